import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto'

export type Secrets = {
  /** Encrypts for the database; the same text gives other bytes each time. */
  seal(plain: string): Buffer
  /** @throws where the bytes were sealed with another APP_SECRET or changed */
  open(sealed: Buffer): string
}

/** AES-256-GCM under a key derived from APP_SECRET: nonce (12 bytes), tag (16), ciphertext. */
export function createSecrets(appSecret: string): Secrets {
  const key = Buffer.from(hkdfSync('sha256', appSecret, '', 'netlet secrets at rest', 32))
  return {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
      decipher.setAuthTag(sealed.subarray(12, 28))
      return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
    }
  }
}

/** What a high-entropy token (session, API key) is stored as. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** `bytes` of randomness, URL-safe. */
export const randomToken = (bytes = 32): string => randomBytes(bytes).toString('base64url')

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A random text without look-alikes, for codes that people read: 31 letters, about 5 bits each. */
export function randomCode(length: number): string {
  let code = ''
  while (code.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 248 = 8 × 31: larger bytes would make the first letters likelier.
      if (byte < 248 && code.length < length) code += LETTERS[byte % 31]
    }
  }
  return code
}

/** Could `randomCode` have made this text? */
export const looksLikeCode = (text: string, length: number): boolean =>
  text.length === length && new RegExp(`^[${LETTERS}]*$`).test(text)

/** Compares in a time that tells nothing about where they differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

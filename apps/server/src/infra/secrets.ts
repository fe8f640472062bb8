import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual
} from 'node:crypto'

export type Secrets = {
  /** Encrypts for the database; the same text gives other bytes each time. */
  seal(plain: string): Buffer
  /** @throws where the bytes were sealed with another APP_SECRET or changed */
  open(sealed: Buffer): string
  /** A text as `randomCode` makes, always the same for `name`: without APP_SECRET nobody finds it, whatever of the name is known. */
  codeOf(name: string, length: number): string
}

/** AES-256-GCM under a key derived from APP_SECRET: nonce (12 bytes), tag (16), ciphertext. */
export function createSecrets(appSecret: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', appSecret, '', purpose, 32))
  const key = derive('netlet secrets at rest')
  const codeKey = derive('netlet codes')
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
    },
    codeOf(name, length) {
      let code = ''
      for (let part = 0; code.length < length; part += 1)
        code += lettersOf(createHmac('sha256', codeKey).update(`${part} ${name}`).digest())
      return code.slice(0, length)
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
  while (code.length < length) code += lettersOf(randomBytes(length * 2))
  return code.slice(0, length)
}

/** 248 = 8 × 31: larger bytes would make the first letters likelier. */
const lettersOf = (bytes: Buffer): string =>
  [...bytes].map(byte => (byte < 248 ? (LETTERS[byte % 31] ?? '') : '')).join('')

/** Could `randomCode` have made this text? */
export const looksLikeCode = (text: string, length: number): boolean =>
  text.length === length && new RegExp(`^[${LETTERS}]*$`).test(text)

/** Compares in a time that tells nothing about where they differ. */
export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

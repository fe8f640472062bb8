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
  /** Encrypts for the database, with a new nonce each time. */
  seal(plain: string): Buffer
  /** @throws if the bytes were changed, or sealed with another APP_SECRET */
  open(sealed: Buffer): string
  /** A text like that of `randomCode`, always the same for `name`, and not guessable without APP_SECRET. */
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

/** How a high-entropy token (session, API key) is stored. */
export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** A URL-safe text of `bytes` random bytes. */
export const randomToken = (bytes = 32): string => randomBytes(bytes).toString('base64url')

const LETTERS = 'abcdefghjkmnpqrstuvwxyz23456789'

/** A random code for people to read, without look-alikes: 31 letters, about 5 bits each. */
export function randomCode(length: number): string {
  let code = ''
  while (code.length < length) code += lettersOf(randomBytes(length * 2))
  return code.slice(0, length)
}

/** Drops bytes from 248 (8 × 31) on, because they would make the first letters likelier. */
const lettersOf = (bytes: Buffer): string =>
  [...bytes].map(byte => (byte < 248 ? (LETTERS[byte % 31] ?? '') : '')).join('')

export const looksLikeCode = (text: string, length: number): boolean =>
  text.length === length && new RegExp(`^[${LETTERS}]*$`).test(text)

/** Compares in constant time. */
export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(hashToken(a), hashToken(b))
}

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
  /** @throws if the bytes were changed, or sealed with neither APP_SECRET nor APP_SECRET_PREVIOUS */
  open(sealed: Buffer): string
  /** The same text sealed with APP_SECRET; null unless APP_SECRET_PREVIOUS sealed it. */
  resealed(sealed: Buffer): Buffer | null
  /** A text like that of `randomCode`, always the same for `name`, and not guessable without the kept key. */
  codeOf: (name: string, length: number) => string
  /** HMAC-SHA256 under the kept key, for what a stolen database alone must not suffice to find. */
  mac: (text: string) => Buffer
  /** The HMACs to accept: under the kept key, and under those that were used before it. */
  macs: (text: string) => Buffer[]
  /** Seals what nothing seals again, such as links in mails, so that it outlives APP_SECRET. */
  kept: Pick<Secrets, 'seal' | 'open'>
  /** Those of APP_SECRET_PREVIOUS, if it is given. */
  previous: Secrets | null
}

/**
 * AES-256-GCM under a key derived from APP_SECRET: nonce (12 bytes), tag (16), ciphertext. Without `withKept`,
 * APP_SECRET is the kept key, too.
 * @param former APP_SECRET_PREVIOUS and, for the kept key, all that were used before; '' counts as none
 */
export function createSecrets(appSecret: string, ...former: string[]): Secrets {
  const [next, ...earlier] = former.filter(one => one !== '' && one !== appSecret)
  const previous = next === undefined ? null : createSecrets(next, ...earlier)
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', appSecret, '', purpose, 32))
  const key = derive('netlet secrets at rest')
  const codeKey = derive('netlet codes')
  const openOwn = (sealed: Buffer): string => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12))
    decipher.setAuthTag(sealed.subarray(12, 28))
    return Buffer.concat([decipher.update(sealed.subarray(28)), decipher.final()]).toString('utf8')
  }
  const mac = (text: string) => createHmac('sha256', appSecret).update(text).digest()
  const secrets: Secrets = {
    previous,
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      try {
        return openOwn(sealed)
      } catch (error) {
        if (previous) return previous.open(sealed)
        throw error
      }
    },
    resealed(sealed) {
      if (!previous || canOpen({ open: openOwn }, sealed) || !canOpen(previous, sealed)) return null
      return secrets.seal(previous.open(sealed))
    },
    mac,
    macs: text => [mac(text), ...(previous?.macs(text) ?? [])],
    get kept() {
      return secrets
    },
    codeOf(name, length) {
      let code = ''
      for (let part = 0; code.length < length; part += 1)
        code += lettersOf(createHmac('sha256', codeKey).update(`${part} ${name}`).digest())
      return code.slice(0, length)
    }
  }
  return secrets
}

/** Secrets with the keys that the database keeps (`checkAppSecret`). @param key makes; `before` are accepted, too */
export function withKept(secrets: Secrets, [key, ...before]: [string, ...string[]]): Secrets {
  const kept = createSecrets(key, ...before)
  return { ...secrets, kept, mac: kept.mac, macs: kept.macs, codeOf: kept.codeOf }
}

/** Can these secrets open it? */
export function canOpen({ open }: Pick<Secrets, 'open'>, sealed: Buffer): boolean {
  try {
    open(sealed)
    return true
  } catch {
    return false
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

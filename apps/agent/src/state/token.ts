import { createHash, timingSafeEqual } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { ROTATED_TOKEN_FILE, rotatedToken } from '@netlet/contract/agent-token'
import { SmallFile } from './replace-file.ts'

type Rotated = z.infer<typeof rotatedToken>
type OpenResult = { ok: true; token: TokenFile } | { ok: false; message: string }

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/**
 * The management token: the configured one, or the one that a console put in its place. That one counts until another is
 * configured. The configured one is accepted too until a call comes with the new one.
 */
export class TokenFile {
  readonly #file: SmallFile
  readonly configured: string
  #rotated: Rotated | null
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(path: string, configured: string, rotated: Rotated | null) {
    this.#file = new SmallFile(path)
    this.configured = configured
    this.#rotated = rotated
  }

  static async open(folder: string, configured: string): Promise<OpenResult> {
    const path = join(folder, ROTATED_TOKEN_FILE)
    const damaged = `The file ${path} cannot be read. If you remove it, the agent uses the configured token.`
    try {
      const read = rotatedToken.safeParse(JSON.parse(await readFile(path, 'utf8')))
      if (!read.success) return { ok: false, message: damaged }
      const counts = read.data.instead_of === digest(configured).toString('hex')
      return { ok: true, token: new TokenFile(path, configured, counts ? read.data : null) }
    } catch (error) {
      const none = (error as NodeJS.ErrnoException).code === 'ENOENT'
      return none ? { ok: true, token: new TokenFile(path, configured, null) } : { ok: false, message: damaged }
    }
  }

  get isFailing(): boolean {
    return this.#file.isFailing
  }

  tryAgain(): Promise<void> {
    return this.#file.tryAgain()
  }

  async settled(): Promise<void> {
    await this.#writing
  }

  /** Is it the header of a caller who has the token? Compares in constant time. */
  accepts(authorization: string | undefined): boolean {
    const given = digest(authorization ?? '')
    const fits = (token: string) => timingSafeEqual(given, digest(`Bearer ${token}`))
    const rotated = this.#rotated
    if (rotated === null) return fits(this.configured)
    if (fits(rotated.token)) {
      if (rotated.before !== null) this.#end(rotated)
      return true
    }
    return rotated.before !== null && fits(rotated.before)
  }

  /** Takes a token in place of the present one. @returns false if it could not be saved; nothing changed */
  replace(token: string): Promise<boolean> {
    const instead_of = digest(this.configured).toString('hex')
    return this.#change(now => ({ instead_of, token, before: now?.before ?? now?.token ?? this.configured }))
  }

  /** From now on the former token is refused. If that cannot be saved, it counts again after a restart, until the next call. */
  #end(rotated: Rotated): void {
    const ended = { ...rotated, before: null }
    this.#rotated = ended
    void this.#change(now => (now === ended ? ended : null))
  }

  /** Changes come one after another. @param changeOf null if there is nothing to do */
  #change(changeOf: (now: Rotated | null) => Rotated | null): Promise<boolean> {
    const changed = this.#writing.then(async () => {
      const rotated = changeOf(this.#rotated)
      if (rotated === null) return true
      const done = await this.#file.replace(`${JSON.stringify(rotated)}\n`)
      if (done) this.#rotated = rotated
      return done
    })
    this.#writing = changed
    return changed
  }
}

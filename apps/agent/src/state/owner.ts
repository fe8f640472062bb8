import { type agentClaim, type AgentOwner, agentOwner, type AgentReason } from '@netlet/contract/agent'
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { SmallFile } from './replace-file.ts'

export type ClaimResult =
  | { ok: true; owner: AgentOwner }
  | { ok: false; reason: Extract<AgentReason, 'foreignConsole' | 'olderConsole'>; owner: AgentOwner }
  | { ok: false; reason: 'notDurable' }
type Claim = z.output<typeof agentClaim>
type OpenResult = { ok: true; file: OwnerFile } | { ok: false; message: string }

/** The console that owns the agent. A file beside the journal, so that older agents can still read the journal. */
export class OwnerFile {
  readonly #file: SmallFile
  #owner: AgentOwner | null
  #writing: Promise<unknown> = Promise.resolve()

  private constructor(path: string, owner: AgentOwner | null) {
    this.#file = new SmallFile(path)
    this.#owner = owner
  }

  static async open(folder: string): Promise<OpenResult> {
    const path = join(folder, 'owner.json')
    const damaged = `The file ${path} cannot be read. If you remove it, the next console that connects owns the agent.`
    try {
      const read = agentOwner.safeParse(JSON.parse(await readFile(path, 'utf8')))
      return read.success ? { ok: true, file: new OwnerFile(path, read.data) } : { ok: false, message: damaged }
    } catch (error) {
      const none = (error as NodeJS.ErrnoException).code === 'ENOENT'
      return none ? { ok: true, file: new OwnerFile(path, null) } : { ok: false, message: damaged }
    }
  }

  get owner(): AgentOwner | null {
    return this.#owner
  }

  /** The last claim could not be saved. */
  get isFailing(): boolean {
    return this.#file.isFailing
  }

  tryAgain(): Promise<void> {
    return this.#file.tryAgain()
  }

  async settled(): Promise<void> {
    await this.#writing
  }

  /**
   * Claims are judged one after another.
   * @param isEmpty whether the agent has no users at that time, so that a claim takes nothing from another console
   */
  claim(claim: Claim, isEmpty: () => boolean): Promise<ClaimResult> {
    const judged = this.#writing.then(() => this.#judge(claim, isEmpty))
    this.#writing = judged.catch(() => {})
    return judged
  }

  async #judge({ known, take_over_from: from, ...claim }: Claim, isEmpty: () => boolean): Promise<ClaimResult> {
    const owner = this.#owner
    if (owner === null) return this.#write(claim)
    if (owner.id !== claim.id) {
      if (from !== owner.id) return { ok: false, reason: 'foreignConsole', owner }
      return this.#write({ ...claim, mark: randomBytes(8).toString('hex') })
    }
    // Another server of the same console wants other users: it was entered twice, or its row was created again. The console must
    // plan first, unless the agent has no users.
    const isNew = owner.server !== claim.server && isEmpty()
    const fits = isNew || [claim.mark, ...known].includes(owner.mark)
    return fits ? this.#write(claim) : { ok: false, reason: 'olderConsole', owner }
  }

  async #write(owner: AgentOwner): Promise<ClaimResult> {
    if (!(await this.#file.replace(`${JSON.stringify(owner)}\n`))) return { ok: false, reason: 'notDurable' }
    this.#owner = owner
    return { ok: true, owner }
  }
}

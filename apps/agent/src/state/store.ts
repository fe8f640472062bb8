import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Definitions, type Op } from './definitions.ts'
import { type Entry, Journal, type Loaded, readJournal } from './journal.ts'
import type { Quota } from './quotas.ts'

/** What a change does, decided on the present state. A refusal changes nothing. */
export type Plan<T, R extends string> = { ok: true; ops: Op[]; value: T } | { ok: false; reason: R; detail?: string }
export type Refusal<R extends string> = { ok: false; reason: R; detail?: string }
export type Outcome<T, R extends string> =
  | { ok: true; value: T; version: number }
  | Refusal<R | 'notDurable' | 'takingOver'>

type Waiting = {
  /** Runs between two batches, when everything in memory is durable and published. */
  alone: boolean
  /** Read-only. */
  looks: boolean
  plan: (state: Definitions) => Plan<unknown, string>
  settle: (outcome: Outcome<unknown, string>) => void
  fail: (error: unknown) => void
}

export type OpenResult = { ok: true; store: Store } | { ok: false; message: string }
export type TakenResult = { ok: true; ops: Op[] } | { ok: false; message: string }

const unreadable = (path: string, reason: string): { ok: false; message: string } => {
  const hint = 'Restore it from a backup, or move it away to start empty. The console then fills it again.'
  return { ok: false, message: `The state file ${path} ${reason}. ${hint}` }
}

const unwritable = (path: string, error: unknown): { ok: false; message: string } => {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  const hint = 'Free some disk space, or let the agent write there.'
  return { ok: false, message: `The state file ${path} cannot be written (${code}). ${hint}` }
}

/**
 * The agent's state: definitions in memory, changes on disk. Changes run one after another. Those that arrive during a write form
 * the next batch and share one fsync. A change is acknowledged once it is durable and applied by every worker.
 */
export class Store {
  readonly epoch: string
  readonly #path: string
  readonly #state: Definitions
  /** Null while another process has the file. */
  #journal: Journal | null
  /** How far the file was read, while another process has it. */
  #place: Loaded | null
  /** Another process reads the file, so it must not be rewritten. */
  #isFollowed = false
  readonly #waiting: Waiting[] = []
  readonly #publish: (ops: Op[]) => Promise<void>
  #running: Promise<void> | null = null
  #writeFailed: (error: unknown) => void
  /** The last write failed. Until one succeeds, even a change without effect must write. */
  #failing = false

  private constructor(
    path: string,
    epoch: string,
    state: Definitions,
    { journal, place }: { journal: Journal | null; place: Loaded | null },
    hooks: StoreHooks
  ) {
    this.#path = path
    this.epoch = epoch
    this.#state = state
    this.#journal = journal
    this.#place = place
    this.#publish = hooks.publish
    this.#writeFailed = hooks.writeFailed
  }

  /** Opens the state in a folder, or creates an empty one. */
  static async open(folder: string, hooks: StoreHooks): Promise<OpenResult> {
    const path = join(folder, 'state.journal')
    const state = new Definitions()
    const read = await readJournal(path, entry => void state.apply(entry.ops, entry.version))
    if (!read.ok) return unreadable(path, read.reason)
    const { header } = read.loaded ?? { header: { epoch: randomBytes(8).toString('hex'), version: 0 } }
    state.version = Math.max(state.version, header.version)
    try {
      const journal = await (read.loaded === null
        ? Journal.create(path, header.epoch, 0, [])
        : Journal.openExisting(path, read.loaded))
      return { ok: true, store: new Store(path, header.epoch, state, { journal, place: null }, hooks) }
    } catch (error) {
      return unwritable(path, error)
    }
  }

  /**
   * Reads the state while another process owns it. Changes are refused until `takeOver`.
   * @param bytes length of the durable part, from that process' `show`
   */
  static async follow(folder: string, bytes: number, hooks: StoreHooks): Promise<OpenResult> {
    const path = join(folder, 'state.journal')
    const state = new Definitions()
    const read = await readJournal(path, entry => void state.apply(entry.ops, entry.version), { upTo: bytes })
    if (!read.ok) return unreadable(path, read.reason)
    if (read.loaded === null) return unreadable(path, 'is missing')
    const { header } = read.loaded
    state.version = Math.max(state.version, header.version)
    return { ok: true, store: new Store(path, header.epoch, state, { journal: null, place: read.loaded }, hooks) }
  }

  /** Reads the rest of the file and becomes its owner. Returns the changes read, which are not published. */
  async takeOver(): Promise<TakenResult> {
    if (this.#place === null) return { ok: true, ops: [] }
    const ops: Op[] = []
    const read = await readJournal(
      this.#path,
      entry => {
        this.#state.apply(entry.ops, entry.version)
        ops.push(...entry.ops)
      },
      { from: this.#place }
    )
    if (!read.ok) return unreadable(this.#path, read.reason)
    if (read.loaded === null) return unreadable(this.#path, 'is missing')
    try {
      this.#journal = await Journal.openExisting(this.#path, read.loaded)
    } catch (error) {
      return unwritable(this.#path, error)
    }
    this.#place = null
    return { ok: true, ops }
  }

  /** Lets another process read the file: no rewrite until `hide`. Returns the length of the durable part. */
  async show(): Promise<number> {
    this.#isFollowed = true
    let bytes = 0
    const look = (): Plan<undefined, never> => {
      bytes = this.figures.bytes
      return { ok: true, ops: [], value: undefined }
    }
    // Runs between two batches, so no write or rewrite is under way.
    await this.#enqueue(look, { alone: true, looks: true })
    return bytes
  }

  /** No other process reads the file any more. */
  hide(): void {
    this.#isFollowed = false
  }

  /** Gives the file to another process. Changes are refused until `takeOver`. */
  async release(): Promise<void> {
    while (this.#running !== null) await this.#running
    const journal = this.#journal
    if (journal === null) return
    this.#journal = null
    this.#place = await journal.place(this.epoch, this.#state.version)
    await journal.close()
  }

  /** Plans, writes and publishes a change. `plan` sees the state after all earlier changes. */
  change<T, R extends string>(plan: (state: Definitions) => Plan<T, R>): Promise<Outcome<T, R>> {
    return this.#enqueue(plan, { alone: false, looks: false })
  }

  #enqueue<T, R extends string>(
    plan: (state: Definitions) => Plan<T, R>,
    { alone, looks }: Pick<Waiting, 'alone' | 'looks'>
  ): Promise<Outcome<T, R>> {
    return new Promise<Outcome<T, R>>((resolve, reject) => {
      this.#waiting.push({ alone, looks, plan, settle: resolve as Waiting['settle'], fail: reject })
      this.#running ??= this.#run()
    })
  }

  /** Passes the whole state, as changes to an empty one, to a receiver that gets all later changes by `publish`. */
  async join(take: (ops: Op[]) => void): Promise<void> {
    await this.#enqueue(
      state => {
        take([...state.snapshot()].flatMap(entry => entry.ops))
        return { ok: true, ops: [], value: undefined }
      },
      { alone: true, looks: true }
    )
  }

  /** Reads the state once all earlier changes are durable, so that it shows nothing unacknowledged. */
  async read<T>(look: (state: Definitions) => T): Promise<T> {
    const outcome = await this.#enqueue(state => ({ ok: true, ops: [], value: look(state) }), {
      alone: false,
      looks: true
    })
    if (!outcome.ok) throw new Error('a read cannot be refused')
    return outcome.value
  }

  /** A user's present lease; undefined: no such user. It may not be durable yet. */
  leaseOf(user: string): { prefixes: readonly string[]; quota: Quota | undefined } | undefined {
    const record = this.#state.users.get(user)
    return record && { prefixes: record.prefixes, quota: record.limits?.quota }
  }

  /** Present counts, and whether the last write failed. Cheap. */
  get figures(): { users: number; prefixes: number; bytes: number; isFailing: boolean } {
    const { users, prefixes } = this.#state
    const bytes = this.#journal?.bytes ?? this.#place?.bytes ?? 0
    return { users: users.size, prefixes: prefixes.length, bytes, isFailing: this.#failing }
  }

  /** After a failed write, tests the disk with an empty entry. */
  async tryAgain(): Promise<void> {
    if (this.#failing) await this.change(() => ({ ok: true, ops: [], value: undefined }))
  }

  async close(): Promise<void> {
    await this.#running
    await this.#journal?.close()
  }

  async #run(): Promise<void> {
    // Callers of the same turn join the first batch.
    await Promise.resolve()
    while (this.#waiting.length > 0) {
      const alone = this.#waiting.findIndex(waiting => waiting.alone)
      await this.#commit(this.#waiting.splice(0, alone < 0 ? this.#waiting.length : Math.max(alone, 1)))
    }
    this.#running = null
  }

  async #commit(batch: Waiting[]): Promise<void> {
    const journal = this.#journal
    if (journal === null) return this.#answerLooks(batch)
    const ops: Op[] = []
    const undo: Array<() => void> = []
    const before = this.#state.version
    const done: Array<() => void> = []
    const undone: Array<() => void> = []
    const tests = this.#failing && batch.some(({ looks }) => !looks)
    for (const { looks, plan, settle, fail } of batch) {
      try {
        const planned = plan(this.#state)
        if (planned.ok && planned.ops.length > 0) {
          undo.unshift(this.#state.apply(planned.ops, before + 1))
          ops.push(...planned.ops)
          undone.push(() => settle({ ok: false, reason: 'notDurable' }))
        } else
          undone.push(() =>
            settle(tests && planned.ok && !looks ? { ok: false, reason: 'notDurable' } : this.#look(plan))
          )
        const version = this.#state.version
        done.push(() => settle(planned.ok ? { ok: true, value: planned.value, version } : planned))
      } catch (error) {
        done.push(() => fail(error))
        undone.push(() => fail(error))
      }
    }
    if (ops.length > 0 || tests) {
      try {
        await journal.append({ version: this.#state.version, ops })
        this.#failing = false
      } catch (error) {
        this.#writeFailed(error)
        this.#failing = true
        for (const step of undo) step()
        for (const settle of undone) settle()
        return
      }
      if (ops.length > 0) await this.#publish(ops)
    }
    for (const settle of done) settle()
    if (journal.overgrown && !this.#isFollowed) await this.#compact(journal)
  }

  /** While another process has the file, only reads are answered. */
  #answerLooks(batch: readonly Waiting[]): void {
    for (const { looks, plan, settle, fail } of batch) {
      try {
        settle(looks ? this.#look(plan) : { ok: false, reason: 'takingOver' })
      } catch (error) {
        fail(error)
      }
    }
  }

  /** Repeats a read after the changes that it saw were reverted. */
  #look(plan: Waiting['plan']): Outcome<unknown, string> {
    const planned = plan(this.#state)
    if (!planned.ok) return planned
    if (planned.ops.length > 0) return { ok: false, reason: 'notDurable' }
    return { ok: true, value: planned.value, version: this.#state.version }
  }

  async #compact(journal: Journal): Promise<void> {
    const state = this.#state
    const entries = function* (): Generator<Entry> {
      for (const { ops, generation } of state.snapshot()) yield { version: generation, ops }
    }
    try {
      await journal.rewrite(this.epoch, state.version, entries())
    } catch (error) {
      // The long file is still complete. The next rewrite waits for more growth.
      this.#writeFailed(error)
    }
  }
}

export type StoreHooks = {
  /** Sends durable changes to every worker. Resolves when all have applied them. */
  publish: (ops: Op[]) => Promise<void>
  writeFailed: (error: unknown) => void
}

import type { Logger } from 'pino'
import { TAKEOVER_FORMAT } from '@netlet/contract/agent-takeover'
import type { Channel, ToPredecessor, ToSuccessor } from './messages.ts'
import type { Drain } from './drain.ts'
import type { HandOver } from './hand-over.ts'
import type { Handed } from './predecessor.ts'
import { type Program, type Started, startProgram } from './start-program.ts'

/** Time from the release of the state until the new process accepts connections. */
const HAND_OVER_MS = 20_000
/** A stopped process ends within this time, even with open connections. */
const END_MS = 3000

/** Interval of attempts to take the state back. */
const TAKE_BACK_MS = 1000

const NOT_FOLLOWED =
  'A new process can take over only under systemd, or if AGENT_PID_FILE names the file that the supervisor follows. Restart the agent instead.'

export type TakeoverOptions = {
  /** Whether the supervisor follows a new main process. */
  isFollowed: boolean
  /** The program to start, read before each takeover. */
  program: () => Promise<Program>
  /** How long the new process may take to get ready, and how long tunnels stay if the state cannot be taken back. */
  readyMs: number
  drainMs: number
  /** Called when a takeover failed and this process continues. */
  goesOn: () => void
}

class Failure extends Error {}

/** Hands over to the program that the installation now names. If that fails, this process continues unchanged. */
export class Takeover {
  readonly #handOver: HandOver
  readonly #options: TakeoverOptions
  readonly #log: Logger
  readonly #over = Promise.withResolvers<void>()
  #running: Promise<void> | null = null
  #abort: (reason: Failure) => void = () => {}
  /** Set when the agent must end: no takeover begins, and a running one fails. */
  #stopped: Failure | null = null
  /** The new process, while it may have to be killed. */
  #successor: Started | null = null
  #drain: Drain | null = null
  readonly #lost = Promise.withResolvers<void>()
  readonly #stopping = Promise.withResolvers<void>()
  /** Resolves when the agent must end because it cannot take its state back. */
  readonly lost: Promise<void> = this.#lost.promise
  /** Resolves when another process serves and this one is done. */
  readonly over: Promise<void> = this.#over.promise

  constructor(handOver: HandOver, options: TakeoverOptions, log: Logger) {
    this.#handOver = handOver
    this.#options = options
    this.#log = log
  }

  /** Begins a takeover, unless one is under way, another process serves, or the agent is ending. */
  begin(): void {
    if (this.#running !== null || this.#drain !== null || this.#stopped !== null) return
    this.#running = this.#run().finally(() => (this.#running = null))
  }

  #set(state: 'running' | 'failed', reason: string | null): void {
    this.#handOver.state.last = { state, reason: reason?.slice(0, 1000) ?? null, at: new Date().toISOString() }
  }

  async #run(): Promise<void> {
    this.#set('running', null)
    this.#successor = null
    let hasLetGo = false
    let handed: Handed = { proxies: [], management: null, lock: null, open: [] }
    try {
      if (process.pid === 1) throw new Failure('This process is the first one of its container, which ends with it.')
      if (!this.#options.isFollowed) throw new Failure(NOT_FOLLOWED)
      this.#log.info('Starting a new process to take over.')
      const program = await this.#options.program()
      this.#throwIfStopped()
      const { channel } = (this.#successor = await startProgram(program))
      this.#throwIfStopped()
      const steps = new Steps(channel, abort => (this.#abort = abort))
      channel.send(await this.#handOver.begin())
      const { format } = await steps.next('ready', this.#options.readyMs)
      if (format !== TAKEOVER_FORMAT) throw new Failure('The new program uses another takeover method.')
      hasLetGo = true
      handed = await this.#handOver.letGo()
      const { proxies, management, lock } = handed
      if (proxies.length === 0 || management === null || lock === null)
        throw new Failure('The sockets cannot be handed over.')
      for (const { host, port, handle } of proxies) {
        channel.send({ type: 'listener', which: 'proxy', host, port }, handle)
      }
      const { host, port, handle } = management
      channel.send({ type: 'listener', which: 'management', host, port }, handle)
      channel.send({ type: 'lock', name: lock.name }, lock.handle)
      const serving = steps.next('serving', HAND_OVER_MS)
      channel.send({ type: 'yours', open: handed.open })
      await serving
      this.#throwIfStopped()
      for (const listener of handed.proxies) listener.done()
      await this.#beginDraining(channel, steps)
    } catch (error) {
      for (const listener of handed.proxies) listener.done()
      const reason = error instanceof Error ? error.message : String(error)
      await this.#successor?.kill()
      this.#successor?.channel.close()
      await this.#failed(reason, hasLetGo)
    }
  }

  /** Called after each wait that a stop does not interrupt. */
  #throwIfStopped(): void {
    if (this.#stopped !== null) throw this.#stopped
  }

  async #beginDraining(channel: Channel<ToPredecessor, ToSuccessor>, steps: Steps): Promise<void> {
    const drain = await this.#handOver.drain(channel).catch((error: unknown) => {
      // No way back: another process accepts connections.
      this.#log.error({ err: error }, 'The process could not begin to drain, and ends.')
      return process.exit(1)
    })
    this.#drain = drain
    steps.stop(message => drain.hear(message))
    await drain.begin()
    this.#log.info('A new process has taken over. This one keeps its tunnels for a while.')
    void drain.over.then(() => this.#end(drain))
  }

  async #failed(reason: string, hasLetGo: boolean): Promise<void> {
    this.#handOver.abandon()
    if (hasLetGo && !(await this.#takeBack(reason))) return
    this.#set('failed', reason)
    this.#options.goesOn()
    this.#log.error(`No new process took over, so this one continues: ${reason}`)
  }

  /**
   * Takes the state back. Until that works, the last acknowledged state is served and changes are refused. After the drain time, or once no
   * connection is open, it gives up and the agent must be restarted.
   */
  async #takeBack(reason: string): Promise<boolean> {
    this.#handOver.goOn()
    const until = performance.now() + this.#options.drainMs
    for (let isFirst = true; ; isFirst = false) {
      const problem = await this.#handOver.takeBack().catch(String)
      if (problem === null) return true
      if (isFirst) {
        this.#set('failed', `${reason} ${problem}`)
        this.#log.error(`The state could not be taken back, and cannot be changed until it is: ${problem}`)
      }
      const stopping = this.#stopping.promise.then(() => 'stopped' as const)
      const pause = new Promise<void>(resolve => setTimeout(resolve, TAKE_BACK_MS))
      if ((await Promise.race([pause, stopping])) === 'stopped') return false
      if (performance.now() < until && this.#handOver.connections > 0) continue
      this.#log.error('Could not read the state. The agent exits, so that the supervisor restarts it.')
      this.#lost.resolve()
      return false
    }
  }

  /** Whether another process serves, so that this one must not close the agent's state. */
  get isDraining(): boolean {
    return this.#drain !== null
  }

  /** Stops a takeover that is under way, or the drain. */
  async stop(): Promise<void> {
    this.#stopped ??= new Failure('The agent was stopped.')
    this.#abort(this.#stopped)
    this.#stopping.resolve()
    const wasUnderWay = this.#running !== null
    await this.#running
    if (this.#drain === null) return
    // A stop during the takeover was meant for the whole agent, so the new process ends too.
    if (wasUnderWay) this.#successor?.end()
    await this.#end(this.#drain)
  }

  async #end(drain: Drain): Promise<void> {
    const late = new Promise<void>(resolve => setTimeout(resolve, END_MS).unref())
    // The other process lets this one go once it has the last counts.
    await Promise.race([drain.cut().then(() => drain.over), late])
    this.#over.resolve()
  }
}

type Waiting = {
  type: ToPredecessor['type']
  resolve: (message: ToPredecessor) => void
  reject: (error: Error) => void
}

/** Waits for the messages of a takeover, one after another. */
class Steps {
  #waiting: Waiting | null = null
  #failure: Failure | null = null
  #hear: (message: ToPredecessor) => void

  constructor(channel: Channel<ToPredecessor, ToSuccessor>, stoppable: (abort: (reason: Failure) => void) => void) {
    this.#hear = message => {
      if (message.type === 'failed') return this.#fail(message.reason)
      if (this.#waiting?.type === message.type) this.#waiting.resolve(message)
    }
    channel.onMessage(message => this.#hear(message))
    stoppable(failure => this.#fail(failure.message))
    void channel.gone.then(() => this.#fail('The new process ended before it served.'))
  }

  #fail(reason: string): void {
    this.#failure ??= new Failure(reason)
    this.#waiting?.reject(this.#failure)
  }

  async next<T extends ToPredecessor['type']>(type: T, ms: number): Promise<Extract<ToPredecessor, { type: T }>> {
    if (this.#failure !== null) throw this.#failure
    const { promise, resolve, reject } = Promise.withResolvers<ToPredecessor>()
    const late = setTimeout(() => this.#fail(`The new process was not ready within ${ms / 1000} seconds.`), ms)
    this.#waiting = { type, resolve, reject }
    try {
      return (await promise) as Extract<ToPredecessor, { type: T }>
    } finally {
      clearTimeout(late)
      this.#waiting = null
    }
  }

  /** Passes further messages to another receiver. */
  stop(hear: (message: ToPredecessor) => void): void {
    this.#hear = hear
  }
}

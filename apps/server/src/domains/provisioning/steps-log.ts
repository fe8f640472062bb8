import {
  type Provisioning,
  type ProvisioningLog,
  type ProvisioningSaid,
  type ProvisioningStep,
  fillIn,
  provisioningMessages
} from '@netlet/contract'
import { iso } from '../../infra/clock.ts'
import { endOf } from '../../infra/text.ts'
import { requestedWork, type Work } from '../servers/index.ts'

/**
 * Which steps may follow each one. Any step may fail, which ends the provisioning; a new request begins again at
 * 'waiting'. If the management API cannot be reached, the ranges go over SSH: 'ranges', 'connect', 'ranges'.
 */
export const NEXT_STEPS: Readonly<Record<ProvisioningStep, readonly ProvisioningStep[]>> = {
  waiting: ['connect', 'ranges'],
  connect: ['examine', 'ranges'],
  // A change of settings alone leaves the program as it is.
  examine: ['upload', 'configure'],
  upload: ['configure'],
  configure: ['start'],
  start: ['wait'],
  wait: ['ranges'],
  ranges: ['connect', 'check', 'done'],
  // If no ranges could be loaded, what runs is tried with those that it has. It then ends at 'ranges'.
  check: ['ranges', 'done'],
  done: []
}

/** What the screens show of an installation; whether it is being cancelled is added when it is read. */
export type ShownProvisioning = Omit<Provisioning, 'cancelling'>

const sentencesOf = (said: readonly ProvisioningSaid[]): string =>
  said.map(({ code, params }) => fillIn(provisioningMessages[code], params)).join(' ')

/** Characters kept of a step's output, from its end. */
const KEPT_OUTPUT = 4000
/** Ranges over SSH make 11 steps. More than this would be a loop. */
const MOST_STEPS = 20

/** The steps of a provisioning so far, for the screens that watch it. */
export class StepsLog {
  readonly #now: () => Date
  readonly #asked: ReturnType<typeof requestedWork>
  /** After a crash everything is done again, so it begins at 'waiting'. */
  #steps: ProvisioningLog[]

  /** @param askedAt when it was requested, which identifies it; now by default */
  constructor(now: () => Date, work: Pick<Work, 'init' | 'settings' | 'asApplied'>, askedAt?: string) {
    this.#now = now
    this.#asked = requestedWork(work)
    const at = iso(now())
    this.#steps = [
      { step: 'waiting', status: 'done', message: '', output: '', started_at: askedAt ?? at, ended_at: at }
    ]
  }

  get #last(): ProvisioningLog {
    const last = this.#steps.at(-1)
    if (!last) throw new Error('a provisioning begins with a step')
    return last
  }

  get steps(): readonly ProvisioningLog[] {
    return this.#steps
  }

  /** When it was requested, which identifies this installation. */
  get begunAt(): string {
    return this.#steps[0]?.started_at ?? ''
  }

  /** No step has begun yet. */
  wait(message: string): ShownProvisioning {
    return this.#shown('running', message)
  }

  /** The step that runs, or ran last. */
  get current(): ProvisioningStep {
    return this.#last.step
  }

  /**
   * Begins the next step, so the previous one is done.
   * @throws if it may not follow that one
   */
  begin(step: ProvisioningStep, message: string): ShownProvisioning {
    if (!NEXT_STEPS[this.current].includes(step)) throw new Error(`${step} does not come after ${this.current}`)
    this.#close('done')
    const started = { step, message, output: '', started_at: iso(this.#now()), ended_at: null }
    this.#steps = [...this.#steps, { ...started, status: 'running' as const }].slice(-MOST_STEPS)
    return this.#shown('running', message)
  }

  /** Adds the machine's output to the running step. */
  print(text: string): void {
    const { output } = this.#last
    this.#change({ output: endOf(`${output}${text.trimEnd()}\n`, KEPT_OUTPUT) })
  }

  /** @param said the result */
  finish(said: readonly ProvisioningSaid[]): ShownProvisioning {
    const message = sentencesOf(said)
    this.begin('done', message)
    this.#close('done')
    return { ...this.#shown('done', message), said: [...said] }
  }

  /** @param said why the step failed */
  fail(said: ProvisioningSaid): ShownProvisioning {
    const message = sentencesOf([said])
    this.#close('failed')
    this.#change({ message, said: [said] })
    return { ...this.#shown('failed', message), said: [said] }
  }

  #close(status: 'done' | 'failed'): void {
    this.#change({ status, ended_at: iso(this.#now()) })
  }

  #change(fields: Partial<ProvisioningLog>): void {
    this.#steps = [...this.#steps.slice(0, -1), { ...this.#last, ...fields }]
  }

  #shown(status: ShownProvisioning['status'], message: string): ShownProvisioning {
    return { status, step: this.current, message, at: iso(this.#now()), ...this.#asked, steps: this.#steps }
  }
}

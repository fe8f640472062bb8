// What an installation works with, and what it says.
import type { ProvisioningSaid, ProvisioningStep } from '@netlet/contract'
import type { AgentAddress, AgentClient } from '../../../integrations/agent/index.ts'
import type { Bundle } from './bundle.ts'
import type { ProxyLevel } from './check.ts'
import type { Service } from './good.ts'
import type { Layout } from './layout.ts'
import type { Machine, StepFailed } from './machine.ts'
import type { Reached } from './settings-there.ts'
import type { Program } from './takeover.ts'

/** Says which step begins, and what the machine prints in it. */
export type Progress = {
  step: (step: ProvisioningStep, message: string) => Promise<void>
  print: (text: string) => void
  /** Aborted when somebody cancels it, with `Cancelled` as its reason. */
  signal: AbortSignal
}

export type Installation = {
  /** Where the agent answers; the token is written into its settings. */
  address: Omit<AgentAddress, 'certificate'>
  proxyPort: number
  /** The id of this console: an agent of another one is left alone. */
  console: string
  /** This console waits for an administrator's word before it changes something on that agent. */
  isUnapproved: boolean
  /** What operators have set for this server, by name. */
  settings: Readonly<Record<string, string>>
  /** It is about the program alone: settings that were last seen to work there stay, whatever this console knows of them. */
  asApplied: boolean
  /** What this console's other machines come from. */
  consoleAddresses: readonly string[]
  /** Only the settings are written: the program stays what it is. */
  settingsOnly: boolean
  /** The agent that runs, as the console reaches it until now; null: none answers. */
  running: { agent: AgentClient; program: Program } | null
  /** How far a request came through the proxy before; null: nobody has asked. */
  before: ProxyLevel | null
  /** Connects to the machine anew. @throws StepFailed where that fails */
  redial: () => Promise<Machine>
  /** '' but in tests. */
  root: string
  /** How long a started agent may take to answer. */
  waitMs: number
  /** Another program than this console's own agent: of tests. */
  bundle?: Bundle
}

/** What the server's row learns on the way. */
export type Learning = {
  /** Before the agent uses the certificate and the token; null where the machine cannot make a certificate. */
  remember: (certificate: string | null) => Promise<void>
  /** What runs again after going back is reached by this. */
  restored: (reached: Reached) => Promise<void>
  /** Before something is started there: from now on nobody knows that it serves, however this ends. */
  starting: () => Promise<void>
  /** What is known to serve runs again. */
  back: () => Promise<void>
  /**
   * What was seen there: the names that the operator's own file sets, which win, and where this console comes from.
   * `closed`: the list that this installation begins with, where there was none.
   */
  seen: (found: { local: string[]; consoleAddress: string; closed: string | null }) => Promise<void>
}

/** `consoleAddress`: where this console logged in from, as sshd saw it; '' where it does not say. */
export type Found = { systemd: boolean; openssl: boolean; consoleAddress: string }

export type Installed = {
  /** How it runs. */
  said: ProvisioningSaid[]
  /** The same with the digest of its service file, see `effect.ts`. */
  service: string
  /** What operators have set for this server, as it was written there. */
  settings: Readonly<Record<string, string>>
  /** How far a request has to come through its proxy; null: however far. */
  bar: ProxyLevel | null
  /** It was seen to serve so far: from now on this is what a failed installation goes back to, unless it is silent and that is not. */
  keep: (level: ProxyLevel | null) => Promise<void>
  /** @throws StepFailed with this reason, after the program and settings of before run again, where there are some */
  giveUp: (reason: StepFailed) => Promise<never>
}

export type Place = {
  machine: Machine
  layout: Layout
  service: Service
  installation: Installation
  progress: Progress
  /** Files that an installation before this one wrote and started nothing with. */
  unstarted: readonly string[]
  /** What is kept runs there at first, as far as files tell. */
  runsGood: boolean
  /** `begun`: what may end the program of before was begun. */
  start: { begun: boolean }
}

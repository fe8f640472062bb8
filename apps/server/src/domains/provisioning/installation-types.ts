// What an installation works with, and what it reports.
import type { ProvisioningSaid, ProvisioningStep } from '@netlet/contract'
import type { AgentAddress, AgentClient, Bundle } from '../../integrations/agent/index.ts'
import type { ProxyLevel } from '../convergence/index.ts'
import type { Program } from '../servers/index.ts'
import type { Layout } from './layout.ts'
import type { Machine, StepFailed } from './machine.ts'
import type { AgentConnection } from './machine-settings.ts'
import type { GoodRelease } from './releases.ts'

/** Reports which step begins, and what the machine prints in it. */
export type Progress = {
  step: (step: ProvisioningStep, message: string) => Promise<void>
  print: (text: string) => void
  /** Aborted with `Cancelled` as its reason when the installation is cancelled. */
  signal: AbortSignal
}

export type Installation = {
  /** Where the agent answers. Its token is written into its settings. */
  address: Omit<AgentAddress, 'certificate'>
  proxyPort: number
  /** The id of this console. An agent of another console is left alone. */
  console: string
  /** This console needs an administrator's approval before it changes that agent. */
  isUnapproved: boolean
  /** What operators set for this server, by name. */
  settings: Readonly<Record<string, string>>
  /** Only the program is replaced. Settings that last worked there stay, even if this console has others. */
  asApplied: boolean
  /** Addresses of this console's other machines. */
  consoleAddresses: readonly string[]
  /** Only the settings are written. The program stays. */
  settingsOnly: boolean
  /** The running agent as the console reaches it now; null if none answers. */
  running: { agent: AgentClient; program: Program } | null
  /** How far a request through the proxy got before; null: unknown. */
  before: ProxyLevel | null
  /** Reconnects to the machine. @throws StepFailed if that fails */
  redial: () => Promise<Machine>
  /** '' except in tests. */
  root: string
  /** How long a started agent may take to answer. */
  waitMs: number
  /** Another program than this console's own agent; only in tests. */
  bundle?: Bundle
}

/** What an installation writes to the server's row on the way. */
export type RowUpdates = {
  /** Called before the agent uses the certificate and the token; null if the machine cannot make a certificate. */
  storeCertificate: (certificate: string | null) => Promise<void>
  /** How the console reaches what was restored. */
  restoreConnection: (connection: AgentConnection) => Promise<void>
  /** Called before anything is started there. From then on it is unknown whether the server serves. */
  markUnserved: () => Promise<void>
  /** A program that is known to serve runs again. */
  markServed: () => Promise<void>
  /**
   * What was found there: the names that the operator's own file sets, which take precedence, and where this console
   * comes from. `closed`: the client list that a first installation adds.
   */
  storeFindings: (found: { local: string[]; consoleAddress: string; closed: string | null }) => Promise<void>
}

/** `consoleAddress`: where this console logged in from, as sshd saw it; '' if unknown. */
export type Found = { systemd: boolean; openssl: boolean; consoleAddress: string }

export type Installed = {
  /** Messages about how it runs. */
  said: ProvisioningSaid[]
  /** How it is kept, with the digest of its service file, see `serviceFingerprint`. */
  service: string
  /** What operators set for this server, as it was written there. */
  settings: Readonly<Record<string, string>>
  /** How far a request through its proxy must get; null: any level will do. */
  requiredLevel: ProxyLevel | null
  /** Makes what is installed the release to go back to, unless it is silent and the good one is not. */
  keep: (level: ProxyLevel | null) => Promise<void>
  /** @throws StepFailed with this reason, once the previous program and settings run again, if there are any */
  rollBack: (reason: StepFailed) => Promise<never>
}

export type InstallContext = {
  machine: Machine
  layout: Layout
  found: Found
  installation: Installation
  progress: Progress
  /** The release to go back to; null: none. */
  good: GoodRelease | null
  /** Something began that may have ended the previous program. */
  mayHaveStopped: boolean
}

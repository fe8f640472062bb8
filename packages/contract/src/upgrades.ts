// Upgrades of the fleet, server by server, and the settings of each server's agent.
import { z } from 'zod'
import { BulkSelection } from './bulk.ts'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { route } from './route.ts'
import { formVersion, Id, IdParams, ReasonParams, Time } from './shapes.ts'

/** `stopped`: a server failed, and somebody has to say how it goes on. `ending`: no further server begins. */
export const UPGRADE_STATES = ['running', 'stopped', 'ending', 'done', 'ended'] as const
export const UPGRADE_SERVER_STATES = ['waiting', 'installing', 'upgraded', 'failed', 'left_out'] as const

/** The most servers of one upgrade. */
export const MAX_UPGRADE_SERVERS = 1000

/** A reason of the catalogue with its parameters, and the sentence. */
const why = { reason: z.string().nullable(), params: ReasonParams, msg: z.string().nullable() }

export const UpgradeServer = z.object({
  id: z.number(),
  name: z.string(),
  state: z.enum(UPGRADE_SERVER_STATES),
  /** The version of before; null: it told none. */
  from_version: z.string().nullable(),
  /** Why it failed, or is left out. */
  ...why
})
export type UpgradeServer = z.infer<typeof UpgradeServer>

const figures = z.object({
  waiting: z.number(),
  installing: z.number(),
  upgraded: z.number(),
  failed: z.number(),
  left_out: z.number()
})

export const Upgrade = z.object({
  id: z.number(),
  state: z.enum(UPGRADE_STATES),
  /** The version that servers get. */
  version: z.string(),
  /** Who asked for it. */
  username: z.string(),
  created_at: Time,
  ended_at: Time.nullable(),
  servers: figures,
  /** Why it stopped. */
  ...why
})
export type Upgrade = z.infer<typeof Upgrade>

/**
 * What becomes of the open tunnels of a server. `hands_over`: they go on until they end. `restarts`: they are cut. `unknown`: one of
 * both; the server was installed before the console kept how its agent runs, or by hand.
 */
const TUNNEL_EFFECTS = ['hands_over', 'restarts', 'unknown'] as const
export type TunnelEffect = (typeof TUNNEL_EFFECTS)[number]

/** Who would be upgraded, the first one first, and who not. `connections`: as the last health check saw them. */
export const UpgradePlan = z.object({
  version: z.string(),
  servers: z.array(
    z.object({
      id: z.number(),
      name: z.string(),
      version: z.string().nullable(),
      orders: z.number(),
      effect: z.enum(TUNNEL_EFFECTS),
      connections: z.number().nullable()
    })
  ),
  left_out: z.array(z.object({ id: z.number(), name: z.string(), ...why })),
  /** Nobody else's upgrade is under way. */
  is_free: z.boolean()
})
export type UpgradePlan = z.infer<typeof UpgradePlan>

/** `version`: what the plan told; refused as stale where the console has another one by now. */
export const UpgradeForm = z.object({
  ids: z.array(Id).min(1, message('must_select')).max(MAX_UPGRADE_SERVERS, message('too_many_ids')),
  /** The server that is upgraded before all others. */
  first_id: Id,
  version: z.string().max(64)
})
export type UpgradeForm = z.output<typeof UpgradeForm>

/** By name: the text of each setting that is another one than by itself. */
const SettingTexts = z.record(z.string().max(64), z.string().max(10_000))

export const AgentSettings = z.object({
  settings: SettingTexts,
  /** What was written to the server last; null: nothing yet. */
  applied: SettingTexts.nullable(),
  /** Names that the operator's own file there sets, which wins; null: nobody has looked. */
  local: z.array(z.string()).nullable(),
  /** The console has a login of the server, so that it can write them there. */
  can_apply: z.boolean(),
  /** The lines for somebody who writes them there by hand, without those that its agent would not start with. */
  lines: z.string(),
  /** Which settings its agent knows (`agent-settings.ts`); null: it has never told anything. */
  agent_format: z.number().nullable(),
  /** The version of the agent that this console installs, which knows all of them. */
  upgrade_to: z.string(),
  version: z.string()
})
export type AgentSettings = z.infer<typeof AgentSettings>

export const AgentSettingsForm = z
  .object({
    settings: SettingTexts,
    /** Write them to the server at once; otherwise they are kept for its next installation. */
    apply: z.boolean().default(false)
  })
  .extend(formVersion)
export type AgentSettingsForm = z.output<typeof AgentSettingsForm>

/** What saving would do: each change, and how the agent takes it. */
export const AgentSettingsPlan = z.object({
  changes: z.array(z.object({ name: z.string(), from: z.string(), to: z.string() })),
  /** Settings that are saved and were not written to the server yet, these changes included. */
  pending: z.number(),
  /** What becomes of open tunnels. `nothing`: the server has these settings already. */
  effect: z.enum([...TUNNEL_EFFECTS, 'nothing']),
  /** Connections that are open there, as the last health check saw them. */
  connections: z.number().nullable(),
  /** Names that change here and that the operator's own file there sets: these changes do nothing. */
  overridden: z.array(z.string()),
  /** The list of who reaches the agent is not empty, and nobody knows by which address this console comes there. */
  may_shut_out: z.boolean(),
  /** Names that its agent is too old for: they take effect with an upgrade to this version. */
  waiting: z.array(z.string()),
  upgrade_to: z.string(),
  lines: z.string()
})
export type AgentSettingsPlan = z.infer<typeof AgentSettingsPlan>

const U = '/api/servers/upgrades'
const settings = '/api/servers/servers/:id/agent_settings'

export const upgrades = {
  upgrades: route('GET', `${U}/`, {
    summary: 'Upgrades of servers, newest first',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({ sort: ['id'] }),
    reply: page(Upgrade)
  }),
  upgradeServers: route('GET', `${U}/:id/servers/`, {
    summary: 'What became of each server of an upgrade, in its order',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: z.array(UpgradeServer)
  }),
  planUpgrade: route('POST', `${U}/plan/`, {
    summary: 'Which servers an upgrade would be of, and which are left out and why; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    body: z.object({ selection: BulkSelection }),
    reply: UpgradePlan
  }),
  startUpgrade: route('POST', `${U}/`, {
    summary: 'Upgrade servers: one, then two at once, then more; it stops at the first that fails',
    access: 'admin',
    permission: 'servers.change',
    body: UpgradeForm,
    reply: Upgrade
  }),
  continueUpgrade: route('POST', `${U}/:id/continue/`, {
    summary: 'Go on with an upgrade that stopped, without the servers that failed',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Upgrade
  }),
  endUpgrade: route('POST', `${U}/:id/end/`, {
    summary: 'Begin no further server of an upgrade; those under way are finished',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Upgrade
  }),
  agentSettings: route('GET', `${settings}/`, {
    summary: "Settings of a server's agent that differ from what they are by themselves",
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: AgentSettings
  }),
  planAgentSettings: route('POST', `${settings}/plan/`, {
    summary: "What saving settings of a server's agent would do; nothing changes",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: AgentSettingsForm,
    reply: AgentSettingsPlan
  }),
  setAgentSettings: route('PUT', `${settings}/`, {
    summary: "Set what a server's agent is to be set to, and write it there where asked",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: AgentSettingsForm,
    reply: AgentSettings
  })
}

// Upgrades of servers one by one, and the agent settings of each server.
import { z } from 'zod'
import { BulkSelection } from './bulk.ts'
import { message } from './form-messages.ts'
import { listQuery, page } from './list.ts'
import { route } from './route.ts'
import { formVersion, Id, IdParams, ReasonParams, Time } from './shapes.ts'

/** `stopped`: a server failed, and an operator must decide. `ending`: no further server starts. */
export const UPGRADE_STATES = ['running', 'stopped', 'ending', 'done', 'ended'] as const
export const UPGRADE_SERVER_STATES = ['waiting', 'installing', 'upgraded', 'failed', 'left_out'] as const

/** Largest number of servers in an upgrade. */
export const MAX_UPGRADE_SERVERS = 1000

/** A reason of the catalogue with its parameters, and the sentence. */
const why = { reason: z.string().nullable(), params: ReasonParams, msg: z.string().nullable() }

export const UpgradeServer = z.object({
  id: z.number(),
  name: z.string(),
  state: z.enum(UPGRADE_SERVER_STATES),
  /** The version before; null: not reported. */
  from_version: z.string().nullable(),
  /** Why it failed or is left out. */
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
  /** The version to install. */
  version: z.string(),
  /** Who started it. */
  username: z.string(),
  created_at: Time,
  ended_at: Time.nullable(),
  servers: figures,
  /** Why it stopped. */
  ...why
})
export type Upgrade = z.infer<typeof Upgrade>

/**
 * What happens to a server's open tunnels. `hands_over`: they continue until they end. `restarts`: they are cut.
 * `unknown`: either; the server was installed manually, or before the console recorded how its agent runs.
 */
const TUNNEL_EFFECTS = ['hands_over', 'restarts', 'unknown'] as const
export type TunnelEffect = (typeof TUNNEL_EFFECTS)[number]

/** Servers to upgrade, in order, and those left out. `connections`: at the last health check. */
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
  /** No other upgrade is running. */
  is_free: z.boolean()
})
export type UpgradePlan = z.infer<typeof UpgradePlan>

/** `version`: the plan's; refused as stale if the console's version has changed. */
export const UpgradeForm = z.object({
  ids: z.array(Id).min(1, message('must_select')).max(MAX_UPGRADE_SERVERS, message('too_many_ids')),
  /** The server to upgrade first. */
  first_id: Id,
  version: z.string().max(64)
})
export type UpgradeForm = z.output<typeof UpgradeForm>

/** Each setting that differs from its default, by name. */
const SettingTexts = z.record(z.string().max(64), z.string().max(10_000))

export const AgentSettings = z.object({
  settings: SettingTexts,
  /** The settings last written to the server; null: none. */
  applied: SettingTexts.nullable(),
  /** Names set in the operator's own file on the server, which takes precedence; null: not read. */
  local: z.array(z.string()).nullable(),
  /** The console has a login for the server and can write them. */
  can_apply: z.boolean(),
  /** The lines for writing them by hand, without settings that would prevent the agent from starting. */
  lines: z.string(),
  /** The settings its agent supports (`agent-settings.ts`); null: never reported. */
  agent_format: z.number().nullable(),
  /** The agent version that this console installs, which supports all settings. */
  upgrade_to: z.string(),
  version: z.string()
})
export type AgentSettings = z.infer<typeof AgentSettings>

export const AgentSettingsForm = z
  .object({
    settings: SettingTexts,
    /** Writes them to the server at once; otherwise the next installation does. */
    apply: z.boolean().default(false)
  })
  .extend(formVersion)
export type AgentSettingsForm = z.output<typeof AgentSettingsForm>

/** What saving would do: each change, and its effect on the agent. */
export const AgentSettingsPlan = z.object({
  changes: z.array(z.object({ name: z.string(), from: z.string(), to: z.string() })),
  /** Saved settings not written to the server, including these changes. */
  pending: z.number(),
  /** The effect on open tunnels. `nothing`: the server already has these settings. */
  effect: z.enum([...TUNNEL_EFFECTS, 'nothing']),
  /** Open connections at the last health check. */
  connections: z.number().nullable(),
  /** Changed names that the operator's own file sets, so the change has no effect. */
  overridden: z.array(z.string()),
  /** The list of clients allowed to reach the agent is not empty, and this console's address there is unknown. */
  may_shut_out: z.boolean(),
  /** Names that the agent is too old for. They take effect after an upgrade to this version. */
  waiting: z.array(z.string()),
  upgrade_to: z.string(),
  lines: z.string()
})
export type AgentSettingsPlan = z.infer<typeof AgentSettingsPlan>

const U = '/api/servers/upgrades'
const settings = '/api/servers/servers/:id/agent_settings'

export const upgrades = {
  upgrades: route('GET', `${U}/`, {
    summary: 'Server upgrades, newest first',
    access: 'admin',
    permission: 'servers.view',
    query: listQuery({ sort: ['id'] }),
    reply: page(Upgrade)
  }),
  upgradeServers: route('GET', `${U}/:id/servers/`, {
    summary: 'Results of an upgrade, server by server',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: z.array(UpgradeServer)
  }),
  planUpgrade: route('POST', `${U}/plan/`, {
    summary: 'Preview an upgrade: its servers, and those left out with reasons; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    body: z.object({ selection: BulkSelection }),
    reply: UpgradePlan
  }),
  startUpgrade: route('POST', `${U}/`, {
    summary: 'Upgrade servers: one, then two at once, then more; stops at the first failure',
    access: 'admin',
    permission: 'servers.change',
    body: UpgradeForm,
    reply: Upgrade
  }),
  continueUpgrade: route('POST', `${U}/:id/continue/`, {
    summary: 'Continue a stopped upgrade without the failed servers',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Upgrade
  }),
  endUpgrade: route('POST', `${U}/:id/end/`, {
    summary: 'End an upgrade; servers in progress finish',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    reply: Upgrade
  }),
  agentSettings: route('GET', `${settings}/`, {
    summary: 'Agent settings of a server that differ from the defaults',
    access: 'admin',
    permission: 'servers.view',
    params: IdParams,
    reply: AgentSettings
  }),
  planAgentSettings: route('POST', `${settings}/plan/`, {
    summary: 'Preview saving agent settings; nothing changes',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: AgentSettingsForm,
    reply: AgentSettingsPlan
  }),
  setAgentSettings: route('PUT', `${settings}/`, {
    summary: 'Save agent settings, and optionally apply them to the server',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: AgentSettingsForm,
    reply: AgentSettings
  })
}

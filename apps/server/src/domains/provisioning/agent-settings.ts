import {
  saveAgentSettings,
  agentOf,
  isInstalling,
  requestProvisioning,
  settingsOf,
  withSettings,
  programIn,
  lockServer,
  readServerRow,
  type ServerRow
} from '../servers/index.ts'
import {
  refuse,
  type AgentSettings,
  type AgentSettingsForm,
  type AgentSettingsPlan,
  type Params,
  type Reason
} from '@netlet/contract'
import {
  AGENT_SETTING_NAMES,
  AGENT_SETTINGS,
  fallbackOf,
  readSetting,
  takenBy,
  type AgentSettingName
} from '@netlet/contract/agent-settings'
import { eq } from '../../infra/db/drizzle.ts'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { staleEdit, versionOf } from '../../infra/version.ts'
import { agentVersion } from '../../integrations/agent/index.ts'
import { CLIENT_LIST, environmentLines, shutsOut } from './layout.ts'
import { tunnelEffect } from './machine-settings.ts'
import { serverReports } from '../servers/tables.ts'

type Texts = Readonly<Record<string, string>>

const isName = (name: string): name is AgentSettingName => AGENT_SETTING_NAMES.some(known => known === name)

/** Normalises the typed texts as they are written to the agent. Settings that equal their default are left out. */
function readTexts(texts: Texts): Result<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const [name, text] of Object.entries(texts)) {
    if (!isName(name)) return fieldRefusal(name, 'setting_unknown')
    const read = readSetting(name, text)
    if (!read.ok) return fieldRefusal(name, ...problemOf(name))
    if (read.value !== fallbackOf(name)) found[name] = read.value
  }
  return ok(found)
}

function problemOf(name: AgentSettingName): [Reason, Params] {
  const setting = AGENT_SETTINGS[name]
  if (setting.kind === 'whole') return ['setting_whole', { name, least: setting.least, most: setting.most }]
  return [`setting_${setting.kind}` as const, { name }]
}

/** What the agent reported last. `format`: the settings it knows, or null if it has never reported. */
type LastReport = { format: number | null; connections: number | null }

async function readLastReport(db: Executor, id: number): Promise<LastReport> {
  const [row] = await db
    .select({ report: serverReports.report })
    .from(serverReports)
    .where(eq(serverReports.serverId, id))
  if (!row) return { format: null, connections: null }
  const { settings_format, hands_over, connections } = row.report
  // Older reports have no format. The first agent that could hand over connections knew the settings of format 2.
  return { format: settings_format ?? (hands_over ? 2 : 1), connections }
}

const present = (row: ServerRow, { format }: LastReport, upgradeTo: string): AgentSettings => ({
  settings: settingsOf(row),
  applied: row.agentSettingsApplied,
  local: row.agentLocalNames,
  can_apply: row.sshPassword !== null,
  lines: linesFor(format, settingsOf(row)),
  agent_format: format,
  upgrade_to: upgradeTo,
  version: versionOf({ settings: settingsOf(row) })
})

export async function readAgentSettings(db: Executor, id: number): Promise<Result<AgentSettings>> {
  const row = await readServerRow(db, id)
  return row ? ok(present(row, await readLastReport(db, id), await agentVersion())) : refuse('not_found')
}

/** What an agent does with each setting. One that has never reported is assumed to know them all. */
const takenOf = (format: number | null, texts: Texts) =>
  AGENT_SETTING_NAMES.flatMap(name => {
    const text = texts[name]
    return text === undefined ? [] : [{ name, taken: format === null ? 'takes' : takenBy(format, name, text) }]
  })

/** The lines for the installed agent. A setting that would stop it from starting waits for the upgrade. */
function linesFor(format: number | null, texts: Texts): string {
  const failing = new Set<string>(failsWith(format, texts))
  return environmentLines(Object.fromEntries(Object.entries(texts).filter(([name]) => !failing.has(name))))
}

const failsWith = (format: number | null, texts: Texts): AgentSettingName[] =>
  takenOf(format, texts).flatMap(({ name, taken }) => (taken === 'fails' ? [name] : []))

/** Settings that the agent only ignores are accepted, so that they take effect with the upgrade. */
function refuseTooNew(format: number | null, texts: Texts, version: string): Result<null> {
  const [name] = failsWith(format, texts)
  return name ? fieldRefusal(name, 'setting_needs_upgrade', { name, version }) : ok(null)
}

/** The settings that differ, with their default if no text is set. */
const changesOf = (from: Texts, to: Texts): AgentSettingsPlan['changes'] => {
  const textOf = (texts: Texts, name: AgentSettingName) => texts[name] ?? fallbackOf(name)
  return AGENT_SETTING_NAMES.map(name => ({ name, from: textOf(from, name), to: textOf(to, name) })).filter(
    change => change.from !== change.to
  )
}

/** Refuses a client list that shuts this console out, if the list applies there and the console's address is known. */
function refuseShutOut(row: ServerRow, texts: Texts): Result<null> {
  const address = row.consoleAddress
  if (!countsThere(row) || !shutsOut(texts[CLIENT_LIST] ?? '', address)) return ok(null)
  return fieldRefusal(CLIENT_LIST, 'setting_shuts_out', { name: CLIENT_LIST, address: address ?? '' })
}

/** The operator's own file on the server takes precedence. */
const countsThere = ({ agentLocalNames }: ServerRow): boolean => !agentLocalNames?.includes(CLIENT_LIST)

/** What saving would do on the server. The agent itself says whether tunnels survive. */
export async function planAgentSettings(
  ctx: Pick<AppContext, 'db' | 'secrets'>,
  id: number,
  form: AgentSettingsForm
): Promise<Result<AgentSettingsPlan>> {
  const row = await readServerRow(ctx.db, id)
  if (!row) return refuse('not_found')
  const read = readTexts(form.settings)
  if (!read.ok) return read
  const changes = changesOf(settingsOf(row), read.data)
  const pending = changesOf(row.agentSettingsApplied ?? {}, read.data).length
  const info = pending > 0 && row.connected ? await agentOf(row, ctx.secrets, 5000).info() : null
  const handsOver = info?.ok ? programIn(info.data) !== null : null
  const shut = refuseShutOut(row, read.data)
  if (!shut.ok) return shut
  const lastReport = await readLastReport(ctx.db, id)
  const version = await agentVersion()
  const tooNew = form.apply ? refuseTooNew(lastReport.format, read.data, version) : ok(null)
  if (!tooNew.ok) return tooNew
  const local = row.agentLocalNames ?? []
  return ok({
    changes,
    pending,
    effect: pending === 0 ? 'nothing' : tunnelEffect({ service: row.agentService, handsOver }, { settingsOnly: true }),
    connections: lastReport.connections,
    overridden: changes.map(({ name }) => name).filter(name => local.includes(name)),
    may_shut_out: Boolean(read.data[CLIENT_LIST]) && countsThere(row) && row.consoleAddress === null,
    waiting: takenOf(lastReport.format, read.data).flatMap(({ name, taken }) => (taken === 'takes' ? [] : [name])),
    upgrade_to: version,
    lines: linesFor(lastReport.format, read.data)
  })
}

/** Saves the settings of a server's agent, and writes them to the server if `apply` is set. */
export async function setAgentSettings(
  ctx: AppContext,
  by: Actor,
  id: number,
  { version, settings, apply }: AgentSettingsForm
): Promise<Result<AgentSettings>> {
  const upgradeTo = await agentVersion()
  return command(ctx, by, async unit => {
    const row = await lockServer(unit, id)
    if (!row) return refuse('not_found')
    const read = readTexts(settings)
    if (!read.ok) return read
    const shut = refuseShutOut(row, read.data)
    if (!shut.ok) return shut
    const lastReport = await readLastReport(unit.tx, id)
    const stale = staleEdit(version, present(row, lastReport, upgradeTo), {
      now: { settings: settingsOf(row) },
      sent: { settings: read.data }
    })
    if (stale) return stale
    // The running installation would write a mix of the old and the new settings.
    if (isInstalling(row)) return refuse('server_installing')
    if (apply && row.sshPassword === null) return refuse('settings_no_login')
    const tooNew = apply ? refuseTooNew(lastReport.format, read.data, upgradeTo) : ok(null)
    if (!tooNew.ok) return tooNew
    const changes = changesOf(settingsOf(row), read.data)
    if (changes.length > 0) {
      await saveAgentSettings(unit, id, withSettings(row, read.data))
      unit.audit('server.agent_settings', id, { before: settingsOf(row), after: read.data })
    }
    if (apply) {
      await requestProvisioning(unit, row, { run_init: false, update_cidr: false, settings: true })
      unit.audit('server.provision', id, { after: { settings: true } })
    }
    return ok(present({ ...row, agentSettings: withSettings(row, read.data) }, lastReport, upgradeTo))
  })
}

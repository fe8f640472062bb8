import type { AgentSettings, Server } from '@netlet/contract'
import { AGENT_SETTING_NAMES, type AgentSettingName } from '@netlet/contract/agent-settings'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import type { Question, T, Tools } from '../kit/index.ts'

/** Saved settings that the next installation will write. */
export const pendingSettings = ({ settings, applied }: AgentSettings): AgentSettingName[] =>
  AGENT_SETTING_NAMES.filter(name => settings[name] !== applied?.[name])

/** The question before an installation, with the settings it would apply. */
async function askFirst(server: Server, t: T): Promise<{ question: Question; applies: boolean }> {
  const pending = pendingSettings(await call(fleet.agentSettings, { params: { id: server.id } }))
  const names = pending.map(name => t(`agentSettings.${name}`)).join(', ')
  const question = {
    title: t('servers.installTitle', { name: server.name }),
    body: [
      t('servers.installBody', { ip: server.ip, port: server.port }),
      ...(pending.length > 0 ? [t('servers.installPending', { names })] : [])
    ].join('\n')
  }
  return { question, applies: pending.length > 0 }
}

/** Asks before a retry only if settings were saved since the last attempt. */
export async function mayTryAgain(server: Server, t: T): Promise<boolean> {
  try {
    const { question, applies } = await askFirst(server, t)
    return !applies || (await confirm(question))
  } catch (error) {
    notify('bad', failureText(error))
    return false
  }
}

/** Installs and starts the agent over SSH with the stored login, and opens the steps beside the list. */
export async function installAgent(server: Server, { t, show, refresh }: Tools): Promise<void> {
  const { question } = await askFirst(server, t)
  const yes = await confirm(question)
  if (!yes) return
  await call(fleet.provision, { params: { id: server.id }, body: { run_init: 1 } })
  notify('good', t('servers.installAsked'))
  show(server.id)
  refresh()
}

/** Accepts exactly the key in the question, because we send root's password to the machine. */
export async function acceptHostKey(server: Server, { t, refresh }: Tools): Promise<void> {
  const { refused, known, expected } = server.host_key
  const was = known ?? expected
  if (refused === null) return
  const yes = await confirm({
    title: t('servers.hostKeyTitle', { name: server.name }),
    body: [
      t('servers.hostKeyBody', { ip: server.ip, refused }),
      ...(was === null ? [] : [t('servers.hostKeyWas', { known: was })])
    ].join('\n'),
    danger: true
  })
  if (!yes) return
  await call(fleet.acceptHostKey, { params: { id: server.id }, body: { fingerprint: refused } })
  notify('good', t('list.done'))
  refresh()
}

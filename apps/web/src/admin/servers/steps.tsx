import type { AgentSettings, ProvisioningLog, Server } from '@netlet/contract'
import { AGENT_SETTING_NAMES, type AgentSettingName } from '@netlet/contract/agent-settings'
import { PROVISIONING_STEPS } from '@netlet/contract/provisioning'
import { call } from '../../api/client.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { notify } from '../../kit/notify.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago } from '../../kit/time.tsx'
import { May, type Question, type T, type Tools, WorkButton, useCommand } from '../kit/index.ts'
import classes from './servers.module.css'

const TONES = { running: 'busy', done: 'good', failed: 'bad', cancelled: 'off' } as const
/** The steps after its turn in the queue. */
export const INSTALL_STEPS = PROVISIONING_STEPS.filter(step => step !== 'waiting')

/** The steps of the running or last installation over SSH, with the machine's output. */
export function InstallSteps({ server }: { server: Server }) {
  const t = useT()
  const { provisioning } = server
  const retry = useCommand(fleet.provision, {
    success: t('servers.installAsked'),
    invalidate: [fleet.servers, fleet.server]
  })
  const again = async () => {
    const init = provisioning?.run_init ?? false
    if (init && !(await mayTryAgain(server, t))) return
    await retry.run({ params: { id: server.id }, body: init ? { run_init: 1 } : { update_cidr: 1 } })
  }
  if (!provisioning) return <p className="dim">{t('servers.neverInstalled')}</p>
  const { status, steps, run_init: init, at, step: reached, cancelling } = provisioning
  const last = steps.at(-1)
  const ahead =
    init && status === 'running' ? INSTALL_STEPS.slice(INSTALL_STEPS.findIndex(step => step === last?.step) + 1) : []
  return (
    <div className="stack">
      <p role="status" className="row stretch" style={{ gap: '0.25rem 1rem' }}>
        <StateBadge tone={TONES[status]}>
          {t(cancelling ? 'servers.progress.cancelling' : `servers.progress.${status}`)}
        </StateBadge>
        <Ago at={at} />
      </p>
      {status === 'done' && <p>{saidText(t, provisioning)}</p>}
      {status === 'cancelled' && <p>{t(`servers.left.${reached}`)}</p>}
      {status === 'running' && !cancelling && <CancelInstall server={server} />}
      <ol className={`stack size-body ${classes.steps}`} style={{ gap: 0 }} aria-label={t('servers.steps')}>
        {steps.map(step => (
          <Step key={`${step.step} ${step.started_at}`} step={step} />
        ))}
        {ahead.map(step => (
          <li key={step} data-state="ahead">
            <span className="row unwrapped stretch between strong" style={{ gap: '1rem' }}>
              {t(`servers.step.${step}`)}
            </span>
          </li>
        ))}
      </ol>
      {/* Settings are retried from their own form. */}
      {(status === 'failed' || status === 'cancelled') && !provisioning.settings && (
        <May make={fleet.provision}>
          <div>
            <WorkButton size="sm" working={retry.running} onClick={() => void again()}>
              {t(status === 'failed' ? 'list.retry' : 'servers.installAgain')}
            </WorkButton>
          </div>
        </May>
      )}
    </div>
  )
}

/** In the current language. Older entries without codes keep their text. */
const saidText = (t: T, { said = [], message }: Pick<ProvisioningLog, 'said' | 'message'>): string =>
  said.length > 0 ? said.map(({ code, params }) => t(`servers.said.${code}`, params)).join(' ') : message

/** Cancels an installation after a question that says how far it is. */
export function CancelInstall({ server, size = 'sm' }: { server: Server; size?: 'sm' | 'compact-sm' }) {
  const t = useT()
  const step = server.provisioning?.step ?? 'waiting'
  const begun = server.provisioning?.steps[0]?.started_at
  const question = {
    title: t('servers.cancelTitle', { name: server.name }),
    body: [t('servers.cancelBody', { step: t(`servers.step.${step}`) }), t('servers.cancelAfter')].join('\n'),
    danger: true
  }
  const cancel = useCommand(fleet.cancelProvision, { confirm: question, invalidate: [fleet.servers, fleet.server] })
  return (
    <May make={fleet.cancelProvision}>
      <div>
        <WorkButton
          size={size}
          variant="default"
          working={cancel.running}
          onClick={() => void cancel.run({ params: { id: server.id }, body: begun ? { started_at: begun } : {} })}
        >
          {t('servers.cancelInstall')}
        </WorkButton>
      </div>
    </May>
  )
}

function Step({ step: log }: { step: ProvisioningLog }) {
  const t = useT()
  const { step, status, output, started_at, ended_at } = log
  // A running step needs no message beyond its name.
  const message = status === 'failed' || status === 'cancelled' ? saidText(t, log) : ''
  const seconds = ended_at ? (Date.parse(ended_at) - Date.parse(started_at)) / 1000 : null
  return (
    <li data-state={status} aria-current={status === 'running' ? 'step' : undefined}>
      <span className="row unwrapped stretch between strong" style={{ gap: '1rem' }}>
        {t(`servers.step.${step}`)}
        <span className="sr-only">: {t(`servers.progress.${status}`)}</span>
        {seconds !== null && seconds >= 0.1 && <span className="dim size-table">{seconds.toFixed(1)} s</span>}
      </span>
      {message && <span className={status === 'failed' ? classes.trouble : 'dim size-table'}>{message}</span>}
      {output && (
        <details open={status === 'failed' || undefined}>
          <summary>{t('servers.output')}</summary>
          <pre className={classes.output} tabIndex={0}>
            {output}
          </pre>
        </details>
      )}
    </li>
  )
}

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
async function mayTryAgain(server: Server, t: T): Promise<boolean> {
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

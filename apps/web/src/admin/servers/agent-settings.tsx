import type { AgentSettings, AgentSettingsPlan, Server } from '@netlet/contract'
import {
  AGENT_SETTING_NAMES,
  AGENT_SETTINGS,
  fallbackOf,
  readSetting,
  takenBy,
  type AgentSettingName
} from '@netlet/contract/agent-settings'
import { Button, Skeleton, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { queryClient, read, refresh } from '../../api/query.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { confirm } from '../../kit/confirm.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { notify } from '../../kit/notify.ts'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { UndecidedClashes, useMergingForm, UnavailableHint, WorkButton, type T } from '../kit/index.ts'
import { pendingSettings } from './steps.tsx'
import classes from './servers.module.css'
import { isInstalling } from './state.ts'

type Texts = Record<AgentSettingName, string>

/** The server's agent settings that differ from the defaults. */
export function AgentSettingsPanel({ server }: { server: Server }) {
  const t = useT()
  const { data, error, refetch } = useQuery(read(fleet.agentSettings, { params: { id: server.id } }))
  return (
    <section className="card stack panel shrinks" style={{ gap: '0.75rem' }} aria-label={t('agentSettings.title')}>
      <h3 className="size-body">{t('agentSettings.title')}</h3>
      <p className="dim">{t('agentSettings.lead')}</p>
      {error && !data ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <Form server={server} data={data} />
      ) : (
        <Skeleton height={240} />
      )}
    </section>
  )
}

/** If the default is not empty, an empty list is written as 'none', because an empty input means the default. */
const shownOf = (name: AgentSettingName, text: string | undefined): string =>
  text === '' && fallbackOf(name) !== '' ? 'none' : (text ?? '')

const textsOf = ({ settings }: AgentSettings): Texts =>
  Object.fromEntries(AGENT_SETTING_NAMES.map(name => [name, shownOf(name, settings[name])])) as Texts

function Form({ server, data }: { server: Server; data: AgentSettings }) {
  const t = useT()
  const {
    base,
    values: texts,
    dirty,
    change,
    take,
    meanwhile
  } = useMergingForm(data, {
    name: `agent-settings-${server.id}`,
    // Manage and the list share a path, so the parameter tells them apart.
    param: { name: 'detail', value: String(server.id) },
    valuesOf: textsOf
  })
  const [working, setWorking] = useState(false)
  const canChange = useMay().mayCall(fleet.setAgentSettings)
  const problems = new Map(
    AGENT_SETTING_NAMES.flatMap(name => {
      const text = texts[name].trim()
      return text === '' || readSetting(name, text).ok ? [] : [[name, problemText(t, name)] as const]
    })
  )
  const isApplied = pendingSettings(data).length === 0
  const isTooNew = (name: AgentSettingName, text = texts[name].trim()) =>
    data.agent_format !== null && takenBy(data.agent_format, name, text) !== 'takes'
  const waiting = AGENT_SETTING_NAMES.filter(name => name in data.settings && isTooNew(name, data.settings[name]))
  const save = async (apply: boolean) => {
    const settings = Object.fromEntries(
      Object.entries(texts).flatMap(([name, text]) => (text.trim() === '' ? [] : [[name, text.trim()]]))
    )
    const input = { params: { id: server.id }, body: { settings, apply, version: base.version } }
    setWorking(true)
    try {
      const plan = await call(fleet.planAgentSettings, input)
      if (!(await confirm(questionOf(t, server, plan, apply)))) return
      const saved = await call(fleet.setAgentSettings, input)
      // Take the saved answer as the base, so that it counts neither as our change nor as another user's.
      queryClient.setQueryData(read(fleet.agentSettings, { params: { id: server.id } }).queryKey, saved)
      take(saved)
      notify('good', t(apply ? 'servers.installAsked' : 'agentSettings.saved'))
      await refresh(fleet.agentSettings, fleet.server)
    } catch (error) {
      notify('bad', failureText(error))
      if (error instanceof ApiError && error.refusal.reason === 'stale') await refresh(fleet.agentSettings)
    } finally {
      setWorking(false)
    }
  }
  const whyNot =
    problems.size > 0
      ? t('agentSettings.wrong')
      : isInstalling(server)
        ? t('whyNot.installing')
        : !dirty && isApplied
          ? t('agentSettings.nothing')
          : undefined
  const noLogin = data.can_apply ? undefined : t('agentSettings.noLogin')
  return (
    <div className="stack">
      <div className={classes.settings}>
        {AGENT_SETTING_NAMES.map(name => (
          <TextInput
            key={name}
            label={t(`agentSettings.${name}`)}
            description={[
              ...helpOf(t, name, data.local?.includes(name) ?? false),
              ...(isTooNew(name) ? [t('agentSettings.since', { version: data.upgrade_to })] : [])
            ].join(' ')}
            placeholder={fallbackOf(name) || t('agentSettings.empty')}
            value={texts[name]}
            readOnly={!canChange}
            error={problems.get(name)}
            onChange={event => change({ [name]: event.currentTarget.value })}
          />
        ))}
      </div>
      {waiting.length > 0 && (
        <p className={classes.trouble}>
          {t('agentSettings.waiting', { version: data.upgrade_to, names: namesOf(t, waiting) })}
        </p>
      )}
      {meanwhile && (
        <UndecidedClashes {...meanwhile} labelOf={([name]) => t(`agentSettings.${name as AgentSettingName}`)} />
      )}
      {!isApplied && <p className={classes.trouble}>{t('agentSettings.notApplied')}</p>}
      {canChange && (
        <div className="row" style={{ gap: '0.5rem 1rem' }}>
          <UnavailableHint why={whyNot ?? noLogin}>
            <WorkButton size="sm" working={working} onClick={() => void save(true)}>
              {t('agentSettings.apply')}
            </WorkButton>
          </UnavailableHint>
          <UnavailableHint why={dirty ? whyNot : t('agentSettings.nothing')}>
            <Button size="sm" variant="default" onClick={() => void save(false)}>
              {t('agentSettings.save')}
            </Button>
          </UnavailableHint>
          {data.lines !== '' && (
            <span className="push">
              <CopyButton text={data.lines} variant="default" size="sm" />
            </span>
          )}
        </div>
      )}
      {!data.can_apply && (
        <>
          <p className="dim">{t('agentSettings.byHand')}</p>
          <pre className={classes.output} tabIndex={0}>
            {data.lines || t('agentSettings.noLines')}
          </pre>
        </>
      )}
    </div>
  )
}

const namesOf = (t: T, names: readonly string[]): string =>
  AGENT_SETTING_NAMES.filter(name => names.includes(name))
    .map(name => t(`agentSettings.${name}`))
    .join(', ')

function problemText(t: T, name: AgentSettingName): string {
  const setting = AGENT_SETTINGS[name]
  return setting.kind === 'whole'
    ? t('agentSettings.mustBe.whole', { least: numberText(setting.least), most: numberText(setting.most) })
    : t(`agentSettings.mustBe.${setting.kind}`)
}

/** The setting's purpose, unit and default, and whether the operator's own file overrides it. */
function helpOf(t: T, name: AgentSettingName, isLocal: boolean): string[] {
  const setting = AGENT_SETTINGS[name]
  const unit = setting.kind === 'whole' && 'unit' in setting ? ` ${t(`agentSettings.unit.${setting.unit}`)}` : ''
  const standard = fallbackOf(name) === '' ? t('agentSettings.empty') : `${fallbackOf(name)}${unit}`
  const lines = [t(`agentSettings.help.${name}`), t('agentSettings.default', { value: standard })]
  return [...lines, ...(isLocal ? [t('agentSettings.local')] : [])]
}

function questionOf(t: T, server: Server, plan: AgentSettingsPlan, apply: boolean) {
  const text = (value: string) => value || t('agentSettings.empty')
  const lines = plan.changes.map(({ name, from, to }) => {
    const label = AGENT_SETTING_NAMES.find(known => known === name)
    return t('form.staleField', { field: label ? t(`agentSettings.${label}`) : name, was: text(from), is: text(to) })
  })
  const connections = plan.connections === null ? '?' : numberText(plan.connections)
  const effect = apply
    ? t(`agentSettings.effect.${plan.effect}`, { count: connections })
    : t('agentSettings.effect.kept')
  const overridden =
    plan.overridden.length > 0 ? [t('agentSettings.overridden', { names: plan.overridden.join(', ') })] : []
  const waiting =
    plan.waiting.length > 0
      ? [t('agentSettings.waitingPlan', { version: plan.upgrade_to, names: namesOf(t, plan.waiting) })]
      : []
  return {
    title: t(apply ? 'agentSettings.applyTitle' : 'agentSettings.saveTitle', { name: server.name }),
    body: [
      ...lines,
      ...overridden,
      ...waiting,
      ...(plan.may_shut_out ? [t('agentSettings.mayShutOut')] : []),
      effect
    ].join('\n'),
    danger: plan.may_shut_out || (apply && (plan.effect === 'restarts' || plan.effect === 'unknown'))
  }
}

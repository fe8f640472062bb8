import type { ChatBotStatus, ShownSettings } from '@netlet/contract'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { keyOf, queryClient, read, refresh } from '../../api/query.ts'
import { settings } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { rules } from '../../kit/form.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { merge, type Clash, type Taken } from '../../kit/merge.ts'
import { SECRET_KEPT, SettingsForm } from '../../kit/schemas.ts'
import { useLatest } from '../../kit/use-latest.ts'
import { AuditLink, FormAlert, May, type T, WorkButton, showDone, useCommand } from '../kit/index.ts'
import { BrandTab, brandOf, showSaved } from './brand.tsx'
import { SettingInput } from './field.tsx'
import { isSecret, tabOf, type Tab } from './fields.ts'
import { SenderDomain, SettingTests } from './tests.tsx'
import { GeofeedProposal } from './geofeed.tsx'
import classes from './settings.module.css'
import { useQuery } from '@tanstack/react-query'
import { Moment } from '../../kit/time.tsx'
import { gridStyle } from '../../kit/grid-style.ts'

/** The secret that signed the last webhook, and until when a former one is accepted. */
function WebhookSecretsState() {
  const t = useT()
  const { data } = useQuery(read(settings.webhookSecrets))
  const end = useCommand(settings.endFormerSecrets, {
    invalidate: [settings.webhookSecrets, settings.health],
    success: t('webSettings.secrets.wasEnded'),
    confirm: { title: t('webSettings.secrets.end'), body: t('webSettings.secrets.endBody'), danger: true }
  })
  if (!data) return null
  const { signed, former_until: until } = data
  return (
    <section
      className="card stack"
      style={{ gap: '0.6rem', padding: '1rem 1.25rem' }}
      aria-label={t('webSettings.secrets.title')}
    >
      <div className={`row ${classes.test}`} style={{ gap: '0.5rem 1rem' }}>
        <strong>{t('webSettings.secrets.title')}</strong>
        <p role="status" data-ok={signed?.by === 'present'}>
          {signed ? t(`webSettings.secrets.${signed.by}`, { topic: signed.topic }) : t('webSettings.secrets.none')}
          {signed && (
            <span className="dim">
              {' · '}
              <Moment at={signed.at} />
            </span>
          )}
        </p>
      </div>
      {until && (
        <div className={`row ${classes.test}`} style={{ gap: '0.5rem 1rem' }}>
          <May make={settings.endFormerSecrets}>
            <WorkButton variant="default" size="sm" working={end.running} onClick={() => void end.run({})}>
              {t('webSettings.secrets.end')}
            </WorkButton>
          </May>
          <p>
            {t('webSettings.secrets.until')} <Moment at={until} />
          </p>
        </div>
      )}
    </section>
  )
}

/** Milliseconds. A worker records the state, and the change feed does not report it. */
const EVERY = 5000

/** Whether the chat bot is connected; if not, why and when it retries. */
function ChatBotState() {
  const t = useT()
  const { data } = useQuery({ ...read(settings.chatBot), refetchInterval: EVERY })
  if (!data) return null
  return (
    <section
      className="card stack"
      style={{ gap: '0.6rem', padding: '1rem 1.25rem' }}
      aria-label={t('webSettings.chatBot.title')}
    >
      <div className={`row ${classes.test}`} style={{ gap: '0.5rem 1rem' }}>
        <strong>{t('webSettings.chatBot.title')}</strong>
        <State bot={data} />
      </div>
      {data.problem && (
        <p className="bad size-label">
          {t(`webSettings.chatBot.problem.${data.problem}`)} {data.detail && <span className="dim">{data.detail}</span>}
        </p>
      )}
      {data.commands_problem !== null && (
        <p className="dim">{t('webSettings.chatBot.commands', { detail: data.commands_problem })}</p>
      )}
      {data.unreadable_channels.length > 0 && (
        <p className="bad size-label">
          {t('webSettings.chatBot.unreadable', { channels: data.unreadable_channels.join(', ') })}
        </p>
      )}
    </section>
  )
}

function State({ bot: { state, name, since, retry_at } }: { bot: ChatBotStatus }) {
  const t = useT()
  const at = state === 'waiting' ? retry_at : state === 'connected' ? since : null
  return (
    <p role="status" data-ok={state === 'connected' || state === 'off' || state === 'connecting'}>
      {t(`webSettings.chatBot.${state}`, { name: name ?? '' })}
      {at && (
        <span className="dim">
          {' · '}
          {t(state === 'waiting' ? 'webSettings.chatBot.retry' : 'webSettings.chatBot.since')} <Moment at={at} />
        </span>
      )}
    </p>
  )
}

type Values = Record<string, string | boolean>
type Props = { loaded: ShownSettings; tab: Tab; onTab: (id: string) => void }

const check = rules(SettingsForm)
/** Updates the cache, so that the form shows this answer when nothing is typed. */
const keepLoaded = (now: ShownSettings) => queryClient.setQueryData(keyOf(settings.config, {}), now)

/** One form over all tabs. It sends only changes, so that two administrators do not overwrite each other. */
export function SettingsFormPart({ loaded, tab, onTab }: Props) {
  const t = useT()
  // The answer that typed values are compared with. A newer one replaces it while nothing is typed.
  const [base, setBase] = useState(loaded)
  const draft = useDraft('settings', valuesOf(loaded), loaded.version)
  const [typed, setTyped] = useState(draft.kept as Values)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [failure, setFailure] = useState('')
  const [taken, setTaken] = useState<Taken[]>([])
  const [clashes, setClashes] = useState<Clash[]>([])
  const [saving, setSaving] = useState(false)
  const latest = useLatest(typed)
  const changed = Object.keys(typed)
  const dirty = changed.length > 0
  if (!dirty && loaded.version !== base.version) setBase(loaded)
  const { isUnsaved } = useLeaveGuard(dirty, { keepsDraft: !changed.some(isSecret) })
  const entered = Object.fromEntries(Object.entries(typed).filter(([name]) => !isSecret(name)))
  useKeptDraft(draft, { entered, version: base.version, isUnsaved })

  const change = (name: string, value: string | boolean) => {
    const { [name]: _before, ...others } = typed
    const same = String(base[name as keyof ShownSettings]) === String(value)
    setTyped(same ? others : { ...others, [name]: value })
    const { [name]: _wrong, ...right } = errors
    setErrors(right)
  }
  const discard = () => {
    setTyped({})
    setErrors({})
    setFailure('')
    setTaken([])
    setClashes([])
    setBase(loaded)
  }
  const show = (found: Record<string, string>) => {
    setErrors(found)
    const [first] = Object.keys(found)
    const place = first === undefined ? undefined : tabOf(first)
    if (place && !Object.keys(found).some(name => tabOf(name) === tab.id)) onTab(place)
  }
  const keep = (now: ShownSettings) => {
    keepLoaded(now)
    setBase(now)
  }
  /** Merges what another user saved with what is entered here. */
  const mergeSaved = (current: ShownSettings) => {
    const [before, now] = [valuesOf(base), valuesOf(current)]
    const merged = merge(before, { ...before, ...latest.current }, now)
    setTyped(Object.fromEntries(Object.entries(merged.values).filter(([name, value]) => value !== now[name])))
    setTaken(merged.taken)
    setClashes(merged.clashes)
    keep(current)
  }
  const save = async () => {
    const wrong = check(typed)
    if (Object.keys(wrong).length > 0) return show(wrong)
    setSaving(true)
    setFailure('')
    setTaken([])
    setClashes([])
    try {
      const saved = await call(settings.saveConfig, { body: { ...typed, version: base.version } })
      keep(saved)
      showSaved(saved)
      setTyped(now => Object.fromEntries(Object.entries(now).filter(([name, value]) => value !== typed[name])))
      setErrors({})
      const invalidate = [settings.config, settings.audit, settings.health, settings.webhookSecrets]
      showDone(t('webSettings.saved'), { undo: undoOf(base, changed, saved.version), what: undefined, invalidate })
      await refresh(...invalidate)
    } catch (error) {
      const current = error instanceof ApiError ? (error.refusal.current as ShownSettings | undefined) : undefined
      if (current) {
        mergeSaved(current)
        setFailure(failureText(error))
      } else {
        const found = fieldTexts(error)
        show(found)
        if (Object.keys(found).length === 0) setFailure(failureText(error))
      }
    } finally {
      setSaving(false)
    }
  }
  const groups = tab.groups.map(({ title, fields }) => (
    <fieldset key={title} className={`card ${classes.group}`}>
      <legend className="strong size-body" style={{ padding: '0 0.4rem' }}>
        {t(`webSettings.group.${title}`)}
      </legend>
      <div className="start" style={gridStyle('20rem', '1rem 1.5rem')}>
        {fields.map(field => (
          <SettingInput
            key={field.name}
            field={field}
            saved={base[field.name]}
            typed={typed[field.name]}
            error={errors[field.name]}
            version={base.version}
            onChange={value => change(field.name, value)}
          />
        ))}
      </div>
    </fieldset>
  ))
  return (
    <>
      <form
        className="stack"
        noValidate
        onSubmit={event => {
          event.preventDefault()
          void save()
        }}
      >
        <FormAlert
          failure={failure}
          taken={taken}
          clashes={clashes}
          labelOf={([name]) => t(`webSettings.${name}` as Key)}
          told={([name = ''], value) => told(t, name, value)}
          onTake={clash => {
            const { [clash.path.join()]: _mine, ...others } = typed
            setTyped(others)
            setClashes(clashes.filter(one => one !== clash))
          }}
        />
        {tab.id === 'brand' ? <BrandTab {...brandOf({ ...base, ...typed })}>{groups}</BrandTab> : groups}
        {tab.id === 'discord' && <ChatBotState />}
        {tab.id === 'shopify' && <WebhookSecretsState />}
        <SettingTests key={tab.id} tests={tab.tests} />
        {tab.id === 'email' && <SenderDomain />}
        <div className={`row ${classes.foot}`}>
          <May make={settings.saveConfig}>
            <WorkButton type="submit" working={saving}>
              {t('webSettings.save')}
            </WorkButton>
          </May>
          {dirty && (
            <>
              <Button variant="default" onClick={discard}>
                {t('webSettings.discard')}
              </Button>
              <span className="dim" role="status">
                {t('webSettings.unsaved', { count: changed.length })}
              </span>
            </>
          )}
          <span className="push">
            <AuditLink of="settings" id="web" />
          </span>
        </div>
      </form>
      {tab.id === 'geofeed' && (
        <GeofeedProposal text={String(typed['geofeed'] ?? base.geofeed)} onChange={text => change('geofeed', text)} />
      )}
    </>
  )
}

function told(t: T, name: string, value: unknown): string {
  if (typeof value === 'boolean') return t(value ? 'list.yes' : 'list.no')
  if (name === 'email_method') return t(`webSettings.method.${String(value)}` as Key)
  return isSecret(name) && value !== '' ? SECRET_KEPT : String(value)
}

/** The former values; undefined if one is a secret, which the server never returns. */
function undoOf(before: ShownSettings, changed: readonly string[], version: string) {
  const former = Object.fromEntries(changed.map(name => [name, before[name as keyof ShownSettings]]))
  if (Object.values(former).includes(SECRET_KEPT)) return undefined
  return { route: settings.saveConfig, input: { body: { ...former, version } } }
}

/** Values as the form compares them: numbers are text. */
const valuesOf = ({ version: _version, ...shown }: ShownSettings): Values =>
  Object.fromEntries(
    Object.entries(shown).map(([name, value]) => [name, typeof value === 'boolean' ? value : String(value)])
  )

import { Button, NativeSelect, Skeleton, Switch, TextInput } from '@mantine/core'
import type { ShownNoticeRules, StockLevel } from '@netlet/contract'
import { NOTICE_CAUSE_NAMES, NOTICE_SEVERITIES, type NoticeCause, thresholdOf } from '@netlet/contract/notice-causes'
import { IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, call } from '../../api/client.ts'
import { read, refresh } from '../../api/query.ts'
import { fleet, inventory, notices, settings } from '../../api/routes.ts'
import { useMay } from '../../api/session.ts'
import { type Key, useT } from '../../i18n/admin.ts'
import { failureText, fieldTexts } from '../../i18n/failures.ts'
import { useDraft, useKeptDraft } from '../../kit/draft.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { type Clash, type Path, type Taken, isSame, merge, withValue } from '../../kit/merge.ts'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { useLatest } from '../../kit/use-latest.ts'
import { AllowedFields, AuditLink, FormAlert, type T, WorkButton, showDone } from '../kit/index.ts'
import classes from './notices.module.css'

type Rules = Omit<ShownNoticeRules, 'version'>
type Edit = (change: Partial<Rules>) => void

/** Causes with severity and threshold, quiet hours, and the digest. */
export function NoticeRulesPart() {
  const { data, error, refetch } = useQuery(read(notices.rules))
  if (error && !data) return <ErrorState error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton height={420} />
  return <RulesForm loaded={data} />
}

function RulesForm({ loaded }: { loaded: ShownNoticeRules }) {
  const t = useT()
  const mayChange = useMay().mayCall(notices.saveRules)
  const [base, setBase] = useState(loaded)
  const draft = useDraft<Rules>('notice-rules', rulesOf(loaded), loaded.version)
  const [typed, setTyped] = useState(draft.kept)
  const [failure, setFailure] = useState('')
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [taken, setTaken] = useState<Taken[]>([])
  const [clashes, setClashes] = useState<Clash[]>([])
  const [saving, setSaving] = useState(false)
  const levelsText = useLevelsText()
  const dirty = Object.keys(typed).length > 0
  if (!dirty && loaded.version !== base.version) setBase(loaded)
  // The tabs share a path, so the parameter tells them apart.
  const { isUnsaved } = useLeaveGuard(dirty, { param: { name: 'tab', value: 'rules' }, keepsDraft: true })
  useKeptDraft(draft, { entered: typed, version: base.version, isUnsaved })
  const now: Rules = { ...base, ...typed }
  const latest = useLatest(now)
  const edit: Edit = change => setTyped(before => ({ ...before, ...change }))
  const discard = () => {
    setTyped({})
    setErrors({})
    setFailure('')
    setTaken([])
    setClashes([])
    setBase(loaded)
  }
  const typedOver = (rules: Rules, saved: Rules) =>
    Object.fromEntries(Object.entries(rules).filter(([name, value]) => !isSame(value, saved[name as keyof Rules])))
  /** Merges what another user saved with what is entered here. */
  const mergeSaved = (current: ShownNoticeRules) => {
    const theirs = rulesOf(current)
    const merged = merge(rulesOf(base), rulesOf(latest.current), theirs)
    setTyped(typedOver(merged.values, theirs))
    setTaken(merged.taken)
    setClashes(merged.clashes)
    setBase(current)
  }
  const save = async () => {
    setSaving(true)
    setFailure('')
    setErrors({})
    setTaken([])
    setClashes([])
    try {
      const saved = await call(notices.saveRules, { body: { ...now, version: base.version } })
      setBase(saved)
      // Text typed during the call is not saved yet.
      setTyped(typedOver(merge(rulesOf(now), rulesOf(latest.current), rulesOf(saved)).values, saved))
      const invalidate = [notices.rules, notices.notices, settings.audit]
      const { version: _seen, ...former } = base
      const undo = { route: notices.saveRules, input: { body: { ...former, version: saved.version } } }
      showDone(t('noticeRules.saved'), {
        undo: saved.version === base.version ? undefined : undo,
        what: undefined,
        invalidate
      })
      await refresh(...invalidate)
    } catch (error) {
      const current = error instanceof ApiError ? (error.refusal.current as ShownNoticeRules | undefined) : undefined
      if (current) mergeSaved(current)
      setErrors(fieldTexts(error))
      setFailure(failureText(error))
    } finally {
      setSaving(false)
    }
  }
  return (
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
        labelOf={path => labelOf(t, path)}
        told={(path, value) => (path[0] === 'stock' ? levelsText(value as Rules['stock']) : told(t, value))}
        onTake={clash => {
          setTyped(typedOver(withValue(now, clash.path, clash.theirs), base))
          setClashes(clashes.filter(one => one !== clash))
        }}
      />
      <AllowedFields allowed={mayChange} className="stack">
        <Times now={now} edit={edit} errors={errors} />
        <fieldset className={`card ${classes.group}`}>
          <legend className="strong size-body" style={{ padding: '0 0.4rem' }}>
            {t('noticeRules.causes')}
          </legend>
          <ul className={classes.causes}>
            {NOTICE_CAUSE_NAMES.map(cause => (
              <CauseRow key={cause} cause={cause} now={now} edit={edit} error={errors[`causes.${cause}.threshold`]} />
            ))}
          </ul>
        </fieldset>
        <StockLevels levels={now.stock} onChange={stock => edit({ stock })} />
      </AllowedFields>
      <div className="row">
        {mayChange && (
          <WorkButton type="submit" working={saving}>
            {t('form.save')}
          </WorkButton>
        )}
        {dirty && (
          <Button variant="default" onClick={discard}>
            {t('webSettings.discard')}
          </Button>
        )}
        <AuditLink of="notice" id="rules" />
      </div>
    </form>
  )
}

const rulesOf = ({ version: _version, ...rules }: Rules & { version?: string }): Rules => rules

function labelOf(t: T, [field = '', cause, part]: Path): string {
  if (field !== 'causes') return t(`noticeRules.${field}` as Key)
  const name = t(`notices.causeOf.${cause as NoticeCause}`)
  return part === 'severity' || part === 'threshold' ? t(`noticeRules.${part}Of`, { name }) : name
}

function told(t: T, value: unknown): string {
  if (typeof value === 'boolean') return t(value ? 'list.yes' : 'list.no')
  if (typeof value === 'number') return numberText(value)
  const severity = NOTICE_SEVERITIES.find(one => one === value)
  return severity ? t(`notices.severityOf.${severity}`) : typeof value === 'string' ? value : ''
}

type PartProps = { now: Rules; edit: Edit }

function Times({ now, edit, errors }: PartProps & { errors: Record<string, string> }) {
  const t = useT()
  const hours = Array.from({ length: 24 }, (_, hour) => ({
    value: String(hour),
    label: `${String(hour).padStart(2, '0')}:00`
  }))
  const input = (name: 'time_zone' | 'quiet_from' | 'quiet_until') => ({
    label: t(`noticeRules.${name}`),
    value: now[name],
    error: errors[name],
    autoComplete: 'off',
    onChange: (event: { currentTarget: { value: string } }) => edit({ [name]: event.currentTarget.value })
  })
  return (
    <fieldset className={`card ${classes.group}`}>
      <legend className="strong size-body" style={{ padding: '0 0.4rem' }}>
        {t('noticeRules.times')}
      </legend>
      <div className="bottom" style={gridStyle('14rem', '1rem 1.5rem')}>
        <TextInput {...input('time_zone')} description={t('noticeRules.zoneHelp')} spellCheck={false} />
        <Switch
          label={t('noticeRules.quiet_hours')}
          description={t('noticeRules.quietHelp')}
          checked={now.quiet_hours}
          onChange={event => edit({ quiet_hours: event.currentTarget.checked })}
        />
        <TextInput {...input('quiet_from')} type="time" />
        <TextInput {...input('quiet_until')} type="time" />
        <NativeSelect
          label={t('noticeRules.digest_hour')}
          data={hours}
          value={String(now.digest_hour)}
          onChange={event => edit({ digest_hour: Number(event.currentTarget.value) })}
        />
        <TextInput
          label={t('noticeRules.repeat_hours')}
          description={t('noticeRules.repeatHelp')}
          inputMode="numeric"
          value={String(now.repeat_hours)}
          error={errors['repeat_hours']}
          onChange={event => edit({ repeat_hours: numberOf(event.currentTarget.value) })}
        />
      </div>
    </fieldset>
  )
}

/** Keep digits only. */
const numberOf = (value: string): number => Number(value.replace(/\D/g, '').slice(0, 7))

function CauseRow({ cause, now, edit, error }: PartProps & { cause: NoticeCause; error: string | undefined }) {
  const t = useT()
  const setting = now.causes[cause]
  const limits = thresholdOf(cause)
  const name = t(`notices.causeOf.${cause}`)
  const change = (part: Partial<typeof setting>) =>
    edit({ causes: { ...now.causes, [cause]: { ...setting, ...part } } })
  return (
    <li>
      <Switch
        label={name}
        checked={setting.enabled}
        onChange={event => change({ enabled: event.currentTarget.checked })}
      />
      <NativeSelect
        aria-label={t('noticeRules.severityOf', { name })}
        data={NOTICE_SEVERITIES.map(value => ({ value, label: t(`notices.severityOf.${value}`) }))}
        value={setting.severity}
        onChange={event => change({ severity: event.currentTarget.value as typeof setting.severity })}
      />
      {limits ? (
        <TextInput
          aria-label={t('noticeRules.thresholdOf', { name })}
          inputMode="numeric"
          value={String(setting.threshold ?? 0)}
          error={error}
          rightSection={
            <span className="unbroken dim" style={{ paddingInlineEnd: '0.75rem' }}>
              {t(`noticeRules.unit.${limits.unit}`)}
            </span>
          }
          rightSectionWidth="auto"
          onChange={event => change({ threshold: numberOf(event.currentTarget.value) })}
        />
      ) : (
        <span />
      )}
    </li>
  )
}

/** More than any shop has. */
const MOST = 1000

const optionsOf = (rows: readonly { id: number; name: string }[] | undefined) =>
  (rows ?? []).map(({ id, name }) => ({ value: String(id), label: name }))

const useChoices = () => ({
  groups: optionsOf(useQuery(read(fleet.groups, { query: { limit: MOST } })).data?.data),
  rules: optionsOf(useQuery(read(inventory.rules, { query: { limit: MOST } })).data?.data)
})

function useLevelsText() {
  const { groups, rules } = useChoices()
  const nameIn = (options: typeof groups, id: number) =>
    options.find(({ value }) => value === String(id))?.label ?? String(id)
  return (levels: readonly StockLevel[]) =>
    levels.map(one => `${nameIn(groups, one.group_id)}, ${nameIn(rules, one.rule_id)}: ${one.below}`).join('; ')
}

/** Thresholds for single groups and rules, if they differ from the cause's. */
function StockLevels({
  levels,
  onChange
}: {
  levels: readonly StockLevel[]
  onChange: (levels: StockLevel[]) => void
}) {
  const t = useT()
  const { groups, rules } = useChoices()
  const [group, rule] = [groups[0], rules[0]]
  const change = (at: number, part: Partial<StockLevel>) =>
    onChange(levels.map((level, index) => (index === at ? { ...level, ...part } : level)))
  return (
    <fieldset className={`card ${classes.group}`}>
      <legend className="strong size-body" style={{ padding: '0 0.4rem' }}>
        {t('noticeRules.stock')}
      </legend>
      <p className="dim">{t('noticeRules.stockHelp')}</p>
      <ul className={`${classes.causes} ${classes.levels}`}>
        {levels.map((level, at) => (
          <li key={`${at}-${levels.length}`}>
            <NativeSelect
              aria-label={t('noticeRules.group')}
              data={groups}
              value={String(level.group_id)}
              onChange={event => change(at, { group_id: Number(event.currentTarget.value) })}
            />
            <NativeSelect
              aria-label={t('noticeRules.rule')}
              data={rules}
              value={String(level.rule_id)}
              onChange={event => change(at, { rule_id: Number(event.currentTarget.value) })}
            />
            <TextInput
              aria-label={t('noticeRules.below')}
              inputMode="numeric"
              value={String(level.below)}
              onChange={event =>
                change(at, { below: Number(event.currentTarget.value.replace(/\D/g, '').slice(0, 7)) })
              }
            />
            <Button
              variant="default"
              size="sm"
              aria-label={t('noticeRules.removeLevel')}
              onClick={() => onChange(levels.filter((_, index) => index !== at))}
            >
              <IconTrash size={16} aria-hidden />
            </Button>
          </li>
        ))}
      </ul>
      {group && rule && (
        <Button
          variant="default"
          size="sm"
          mt="sm"
          onClick={() =>
            onChange([...levels, { group_id: Number(group.value), rule_id: Number(rule.value), below: 0 }])
          }
        >
          {t('noticeRules.addLevel')}
        </Button>
      )}
    </fieldset>
  )
}

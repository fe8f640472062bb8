import { Button, Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import en from '../../i18n/admin.en.json'
import { useT, type Key } from '../../i18n/admin.ts'
import { PasswordInput } from '../../kit/new-password-input.tsx'
import { SECRET_KEPT } from '../../kit/schemas.ts'
import type { SettingField } from './fields.ts'
import classes from './settings.module.css'

type Props = {
  field: SettingField
  saved: string | number | boolean
  /** The entered value, not saved yet. */
  typed: string | boolean | undefined
  error: string | undefined
  /** The version of the saved settings. */
  version: string
  onChange: (value: string | boolean) => void
}

const METHODS = ['sendgrid', 'mailgun', 'smtp'] as const

export function SettingInput(props: Props) {
  const t = useT()
  const { field, saved, typed, error, onChange } = props
  const { name, kind, unit } = field
  const help = `webSettings.help.${name}`
  const label = t(`webSettings.${name}` as Key)
  const common = {
    label,
    ...(help in en ? { description: t(help as Key) } : {}),
    ...(error ? { error } : {}),
    name,
    autoComplete: 'off'
  }
  const value = String(typed ?? saved)
  switch (kind) {
    case 'secret':
      return <Secret {...props} label={label} common={common} />
    case 'flag':
      return (
        <Checkbox
          {...common}
          checked={Boolean(typed ?? saved)}
          onChange={event => onChange(event.currentTarget.checked)}
        />
      )
    case 'choice':
      return (
        <NativeSelect
          {...common}
          value={value}
          data={METHODS.map(method => ({ value: method, label: t(`webSettings.method.${method}`) }))}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )
    case 'colour':
      return (
        <TextInput
          {...common}
          spellCheck={false}
          placeholder="#0b6860"
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
          rightSectionWidth="3.5rem"
          rightSection={
            <input
              type="color"
              className={classes.colour}
              aria-label={t('webSettings.chooseColour')}
              value={/^#[\da-f]{6}$/i.test(value) ? value : '#0b6860'}
              onChange={event => onChange(event.currentTarget.value)}
            />
          }
        />
      )
    case 'zone':
      return (
        <>
          <TextInput
            {...common}
            spellCheck={false}
            list="time-zones"
            value={value}
            onChange={event => onChange(event.currentTarget.value)}
          />
          <datalist id="time-zones">
            {['UTC', ...Intl.supportedValuesOf('timeZone')].map(zone => (
              <option key={zone} value={zone} />
            ))}
          </datalist>
        </>
      )
    case 'area':
      return <Textarea {...common} rows={4} value={value} onChange={event => onChange(event.currentTarget.value)} />
    case 'lines':
      return (
        <Textarea
          {...common}
          rows={18}
          resize="vertical"
          spellCheck={false}
          classNames={{ root: classes.wide, input: 'mono' }}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )
    default:
      return (
        <TextInput
          {...common}
          spellCheck={false}
          {...(kind === 'number' ? { inputMode: 'decimal' as const } : {})}
          {...(unit
            ? {
                rightSection: (
                  <span className="unbroken dim" style={{ paddingInlineEnd: '0.75rem' }}>
                    {t(`webSettings.unit.${unit}`)}
                  </span>
                ),
                rightSectionWidth: 'max-content'
              }
            : {})}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )
  }
}

type SecretProps = Props & { label: string; common: { description?: string; error?: string; name: string } }

/** A secret. It is never shown; it can be replaced or cleared explicitly. */
function Secret({ saved, typed, version, onChange, label, common }: SecretProps) {
  const t = useT()
  const isSet = saved === SECRET_KEPT
  const [entering, setEntering] = useState(false)
  // After a save, show that the secret is set instead of an empty field.
  useEffect(() => setEntering(false), [version])
  const keep = () => {
    setEntering(false)
    onChange(String(saved))
  }
  const named = (action: Key) => ({ 'aria-label': t('webSettings.of', { action: t(action), name: label }) })
  const open = entering || (typeof typed === 'string' && typed !== '')
  if (open)
    return (
      <div className="stack" style={{ gap: '0.3rem' }}>
        <PasswordInput
          {...common}
          label={label}
          autoComplete="new-password"
          visibilityToggleButtonProps={{ 'aria-label': t('users.showPassword') }}
          autoFocus={entering}
          value={typeof typed === 'string' ? typed : ''}
          onChange={event => {
            const { value } = event.currentTarget
            // Emptying the input does not clear the secret.
            onChange(value === '' ? String(saved) : value)
          }}
          onBlur={() => {
            if (typed === undefined) setEntering(false)
          }}
        />
        <Button
          size="compact-sm"
          variant="default"
          style={{ alignSelf: 'flex-start' }}
          onClick={keep}
          {...named('webSettings.keep')}
        >
          {t('webSettings.keep')}
        </Button>
      </div>
    )
  const clearing = isSet && typed === ''
  return (
    <div className="stack" style={{ gap: '0.3rem' }} role="group" aria-label={label}>
      <span className="strong size-body">{label}</span>
      {common.description && <span className="dim size-label">{common.description}</span>}
      <div className="row" style={{ gap: '0.5rem', minHeight: '2.25rem' }}>
        <span className={`size-body ${isSet && !clearing ? 'good' : 'dim'}`}>
          {t(clearing ? 'webSettings.willClear' : isSet ? 'webSettings.set' : 'webSettings.notSet')}
        </span>
        {clearing ? (
          <Button size="compact-sm" variant="default" onClick={keep} {...named('webSettings.keep')}>
            {t('webSettings.keep')}
          </Button>
        ) : (
          <>
            <Button
              size="compact-sm"
              variant="default"
              onClick={() => setEntering(true)}
              {...named(isSet ? 'webSettings.replace' : 'webSettings.enter')}
            >
              {t(isSet ? 'webSettings.replace' : 'webSettings.enter')}
            </Button>
            {isSet && (
              <Button
                size="compact-sm"
                variant="subtle"
                color="red.9"
                c="var(--nl-bad)"
                onClick={() => onChange('')}
                {...named('webSettings.clear')}
              >
                {t('webSettings.clear')}
              </Button>
            )}
          </>
        )}
      </div>
      {common.error && <span className="bad size-label">{common.error}</span>}
    </div>
  )
}

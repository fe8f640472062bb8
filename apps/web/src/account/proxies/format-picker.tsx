import '../../kit/styles/forms.ts'
import { NativeSelect, TextInput } from '@mantine/core'
import { useId } from 'react'
import { useT } from '../../i18n/proxies.ts'
import {
  type Credentials,
  FORMATS,
  type Format,
  type FormatChoice,
  MASK,
  MAX_TEMPLATE,
  formatProxies
} from './formats.ts'
import classes from './panel.module.css'

/** Not translated, because programs read them. */
const NAMES: Partial<Record<Format, string>> = {
  line: 'ip:port:user:pass',
  at: 'user:pass@ip:port',
  http: 'http://user:pass@ip:port',
  https: 'https://user:pass@name:port',
  socks5: 'socks5://user:pass@ip:port'
}
const BLANKS = ['ip', 'host', 'port', 'user', 'pass', 'n'].map(name => `{${name}}`).join(' ')
/** Shown while an order has no proxies. */
const SAMPLE: Credentials = { ip: '203.0.113.7', port: 1080, username: 'user', password: MASK }

type Props = { choice: FormatChoice; onChoose: (choice: FormatChoice) => void }

/** @param secure whether some of the proxies speak TLS */
export function FormatPicker({ choice, onChoose, secure }: Props & { secure: boolean }) {
  const t = useT()
  return (
    <NativeSelect
      size="sm"
      className={classes.format}
      aria-label={t('format.label')}
      value={choice.format}
      onChange={event =>
        onChoose({ ...choice, format: FORMATS.find(one => one === event.currentTarget.value) ?? 'line' })
      }
      data={FORMATS.filter(value => secure || value !== 'https').map(value => ({
        value,
        label: NAMES[value] ?? t(`format.${value as 'csv' | 'json' | 'template'}`)
      }))}
    />
  )
}

/** The customer's own pattern with a preview for the first proxy. Its password is masked. */
export function TemplateField({ choice, onChoose, first }: Props & { first: Credentials | undefined }) {
  const t = useT()
  const id = useId()
  if (choice.format !== 'template') return null
  const shown = first ? { ...first, password: MASK } : SAMPLE
  return (
    <div className="stack" style={{ gap: '0.5rem', padding: '0.75rem 0.9rem' }}>
      <TextInput
        size="sm"
        label={t('format.pattern')}
        description={t('format.hint', { blanks: BLANKS })}
        maxLength={MAX_TEMPLATE}
        spellCheck={false}
        autoComplete="off"
        classNames={{ input: 'mono' }}
        value={choice.template}
        onChange={event => onChoose({ ...choice, template: event.currentTarget.value })}
      />
      <p className={`row stretch size-table ${classes.preview}`} style={{ gap: '0.25rem 0.75rem' }}>
        <span id={id} className="dim">
          {t('format.preview')}
        </span>
        <output aria-labelledby={id} className="mono">
          {formatProxies([shown], choice)}
        </output>
      </p>
    </div>
  )
}

import { Tabs } from '@mantine/core'
import type { ReferenceCall } from '@netlet/contract'
import { type Key, useT } from '../../i18n/reference.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import classes from './reference.module.css'

export type Sample = keyof ReferenceCall['samples']
const SAMPLES: [Sample, string][] = [
  ['curl', 'curl'],
  ['python', 'Python'],
  ['node', 'Node']
]

type Props = {
  call: ReferenceCall
  /** The language of all examples. */
  sample: Sample
  onSample: (sample: Sample) => void
}

export function Call({ call, sample, onSample }: Props) {
  const t = useT()
  const summary = summaryOf(call, t)
  return (
    <article id={call.id} className={`card ${classes.call}`} aria-labelledby={`${call.id}-title`}>
      <h3 id={`${call.id}-title`}>{summary}</h3>
      <p className={`row baseline ${classes.line}`} style={{ gap: '0.3rem 0.7rem' }}>
        <span className={`mono ${classes.method}`}>{call.method}</span>
        <code className="mono">{call.path}</code>
        <a href={`#${call.id}`} aria-label={`${t('link')}: ${summary}`}>
          #
        </a>
      </p>
      <p className="dim">
        {t('takes', { scope: call.scope })}
        {call.reveals && ` · ${t('secrets')}`}
      </p>
      <Fields title={t('in.path')} fields={call.path_fields} />
      <Fields title={t('in.query')} fields={call.query} />
      <Fields title={t('in.body')} fields={call.body} />
      <Tabs value={sample} onChange={value => onSample(value as Sample)} keepMounted={false}>
        <Tabs.List>
          {SAMPLES.map(([value, name]) => (
            <Tabs.Tab key={value} value={value}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {SAMPLES.map(([value, name]) => (
          <Tabs.Panel key={value} value={value} pt="xs">
            <Code title={`${t('sample', { language: name })}: ${summary}`} text={call.samples[value]} copied />
          </Tabs.Panel>
        ))}
      </Tabs>
      {call.reply.length > 0 && (
        <details>
          <summary>{t('fields', { count: call.reply.length })}</summary>
          <Fields fields={call.reply} />
        </details>
      )}
      <details>
        <summary>{t('example')}</summary>
        <Code title={`${t('example')}: ${summary}`} text={call.example} />
      </details>
    </article>
  )
}

function Code({ title, text, copied = false }: { title: string; text: string; copied?: boolean }) {
  return (
    <div className={classes.code}>
      {copied && (
        <div className="row to-end" style={{ gap: 0, paddingBottom: '0.4rem' }}>
          <CopyButton text={text} name={title} />
        </div>
      )}
      <pre tabIndex={0} role="group" aria-label={title}>
        <code>{text}</code>
      </pre>
    </div>
  )
}

type FieldList = ReferenceCall['query']

/** @param title the title of request fields, which adds the column "needed"; without it the fields are of the reply */
function Fields({ title, fields }: { title?: string; fields: FieldList }) {
  const t = useT()
  if (fields.length === 0) return null
  const heads: Key[] = title ? ['field', 'type', 'needed'] : ['field', 'type']
  return (
    <div className={classes.table} tabIndex={0} role="group" aria-label={title ?? t('field')}>
      <table>
        {title && <caption>{title}</caption>}
        <thead>
          <tr>
            {heads.map(key => (
              <th key={key} scope="col">
                {t(key)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name, type, required }) => (
            <tr key={name}>
              <td className="mono">{name}</td>
              <td className="mono">{type}</td>
              {title && <td>{t(required ? 'yes' : 'no')}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type Translate = (key: Key) => string

/** What a call does; the server's words if there is no translation. */
export function summaryOf(call: ReferenceCall, t: Translate): string {
  const key = `call.${call.id}`
  const words = t(key as Key)
  return words === key ? call.summary : words
}

/** The calls that contain every word in their summary, address or field names. */
export function callsThatMatch(calls: ReferenceCall[], search: string, t: Translate): ReferenceCall[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length === 0) return calls
  return calls.filter(call => {
    const fields = [...call.path_fields, ...call.query, ...call.body, ...call.reply].map(({ name }) => name)
    const text = [call.method, call.path, call.scope, call.summary, summaryOf(call, t), ...fields]
      .join(' ')
      .toLowerCase()
    return words.every(word => text.includes(word))
  })
}

import { Button, Skeleton, TextInput } from '@mantine/core'
import type { Reference } from '@netlet/contract'
import { API_KEY_SCOPES } from '@netlet/contract/limits'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { Link } from 'react-router'
import { read } from '../../api/query.ts'
import { documentation } from '../../api/routes.ts'
import { type Key, useT } from '../../i18n/reference.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { numberText } from '../../kit/money.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { Call, type Sample, callsThatMatch, summaryOf } from './call.tsx'
import classes from './reference.module.css'
import '../../kit/styles/forms.ts'

/** The API for customers' programs. The server generates it from the contract. */
export default function ApiReferencePage() {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery({ ...read(documentation.reference), staleTime: Infinity })
  useTitle(t('title'))
  if (error && !data)
    return (
      <div className="wide page">
        <h1>{t('title')}</h1>
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    )
  return <div className={`wide page ${classes.page}`}>{isPending ? <Place /> : <Content reference={data} />}</div>
}

const Place = () => (
  <>
    <Skeleton height={400} />
    <Skeleton height={1200} />
  </>
)

function Content({ reference }: { reference: Reference }) {
  const t = useT()
  const { query, change } = useAddress()
  const field = useRef<HTMLInputElement>(null)
  const [sample, setSample] = useState<Sample>('curl')
  const search = query.get('q') ?? ''
  const found = callsThatMatch(reference.calls, search, t)
  const domains = [...Map.groupBy(found, call => call.domain)]
  return (
    <>
      <nav className={classes.contents} aria-label={t('contents')}>
        <TextInput
          ref={field}
          type="search"
          label={t('search')}
          value={search}
          onChange={event => change({ q: event.currentTarget.value || null })}
        />
        {domains.map(([domain, calls]) => (
          <div key={domain}>
            <h2 className="dim">{t(`domain.${domain}` as Key)}</h2>
            <ul>
              {calls.map(call => (
                <li key={call.id}>
                  <a href={`#${call.id}`}>{summaryOf(call, t)}</a>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className={`stack shrinks ${classes.text}`} style={{ gap: '2.25rem' }}>
        <section className={classes.about} aria-labelledby="title">
          <h1 id="title">{t('title')}</h1>
          {!search && <About reference={reference} />}
        </section>
        {found.length === 0 && (
          <EmptyState title={t('none')} body={t('noneHint')} compact>
            <Button
              variant="default"
              onClick={() => {
                passFocus(field.current)
                change({ q: null })
              }}
            >
              {t('clear')}
            </Button>
          </EmptyState>
        )}
        {domains.map(([domain, calls]) => (
          <section key={domain} id={domain} className={classes.about} aria-labelledby={`${domain}-title`}>
            <h2 id={`${domain}-title`}>{t(`domain.${domain}` as Key)}</h2>
            {calls.map(call => (
              <Call key={call.id} call={call} sample={sample} onSample={setSample} />
            ))}
          </section>
        ))}
      </div>
    </>
  )
}

const STATUSES = [400, 401, 403, 404, 409, 413, 415, 429, 500] as const

/** What applies to all calls. */
function About({ reference }: { reference: Reference }) {
  const t = useT()
  const parts: [Key, string][] = [
    ['limit', t('limit.body', { calls: reference.calls_a_minute })],
    ['paging', t('paging.body', { most: numberText(reference.most_rows) })],
    ['twice', t('twice.body')],
    ['forms', t('forms.body')]
  ]
  return (
    <>
      <p className="dim">{t('lead')}</p>
      <p className={`row baseline ${classes.line}`} style={{ gap: '0.3rem 0.7rem' }}>
        <code className="mono">{reference.url}</code>
        <a href="/api/docs/customer.json">{t('openapi')}</a>
      </p>
      <h2>{t('key')}</h2>
      <p>
        {t('key.body')} <Link to={pageAt('userSettings')}>{t('key.open')}</Link>
      </p>
      <h2>{t('scopes')}</h2>
      <dl>
        {API_KEY_SCOPES.map(scope => (
          <div key={scope} className={`row baseline ${classes.line}`} style={{ gap: '0.3rem 0.7rem' }}>
            <dt className="mono" style={{ color: 'inherit' }}>
              {scope}
            </dt>
            <dd>{t(`scope.${scope}`)}</dd>
          </div>
        ))}
      </dl>
      <h2>{t('answers')}</h2>
      <p>{t('answers.body')}</p>
      <div className={classes.table}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('status')}</th>
              <th scope="col">{t('meaning')}</th>
            </tr>
          </thead>
          <tbody>
            {STATUSES.map(status => (
              <tr key={status}>
                <td className="num">{status}</td>
                <td>{t(`error.${status}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {parts.map(([title, body]) => (
        <div key={title} className={classes.about}>
          <h2>{t(title)}</h2>
          <p>{body}</p>
        </div>
      ))}
    </>
  )
}

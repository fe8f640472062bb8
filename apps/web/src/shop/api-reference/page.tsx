import '../../kit/styles/forms.ts'
import type { Reference } from '@netlet/contract'
import { Button, Skeleton, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { read } from '../../api/query.ts'
import { documentation } from '../../api/routes.ts'
import { useT, type Key } from '../../i18n/reference.ts'
import { passFocus } from '../../kit/focus-return.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { useAddress } from '../../kit/use-address.ts'
import { useTitle } from '../../kit/use-title.ts'
import { About } from './about.tsx'
import { Call, type Sample } from './call.tsx'
import { callsThatMatch, summaryOf } from './calls.ts'
import classes from './reference.module.css'

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

import { Skeleton } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { useQuery, type QueryKey, type UseQueryOptions } from '@tanstack/react-query'
import { NuqsAdapter } from 'nuqs/adapters/react-router/v8'
import type { ReactNode } from 'react'
import { Link, useParams } from 'react-router'
import { ApiError } from '../../api/client.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import classes from './row-page.module.css'

type Back = { to: string; title: string }

type Props<Row, Key extends QueryKey> = {
  /** The query for the row with the `id` of the address. */
  query: (id: number) => UseQueryOptions<Row, Error, Row, Key>
  back: Back
  /** Milliseconds between polls of the row; false: none. */
  poll?: (row: Row) => number | false
  /** The texts if the row does not exist. */
  gone: { title: string; body: string }
  /** The text if loading failed without the server's reason. */
  fallback?: string
  children: (row: Row) => ReactNode
}

/** A page of one row, with placeholder, not-found and error states. */
export function RowPage<Row, Key extends QueryKey>(props: Props<Row, Key>) {
  const { id = '' } = useParams()
  const known = /^[1-9]\d{0,14}$/.test(id)
  return (
    <NuqsAdapter defaultOptions={{ shallow: false }}>
      {known ? <Known key={id} id={Number(id)} {...props} /> : <Gone {...props} />}
    </NuqsAdapter>
  )
}

function Gone({ gone, back }: Pick<Props<never, never>, 'gone' | 'back'>) {
  return (
    <div className="card">
      <EmptyState {...gone}>
        <Link to={back.to}>{back.title}</Link>
      </EmptyState>
    </div>
  )
}

function Known<Row, Key extends QueryKey>({
  id,
  query,
  poll,
  back,
  gone,
  fallback,
  children
}: Props<Row, Key> & { id: number }) {
  const { data, error, refetch } = useQuery({
    ...query(id),
    refetchInterval: ({ state }) => (state.data && poll ? poll(state.data) : false)
  })
  if (error instanceof ApiError && error.status === 404) return <Gone gone={gone} back={back} />
  if (error && !data)
    return (
      <div className="card">
        <ErrorState error={error} {...(fallback && { fallback })} onRetry={() => void refetch()} />
      </div>
    )
  return data ? children(data) : <Skeleton height={320} />
}

/** The header of such a page: a link to the list, the row's name and its actions. */
export function RowPageHead({ back, actions, children }: { back: Back; actions: ReactNode; children: ReactNode }) {
  return (
    <div className={`row ${classes.head}`} style={{ gap: '0.5rem 1rem' }}>
      <Link to={back.to} className={`row unwrapped inline size-body ${classes.back}`} style={{ gap: '0.35rem' }}>
        <IconArrowLeft size={16} aria-hidden />
        {back.title}
      </Link>
      {children}
      <span className="push">{actions}</span>
    </div>
  )
}

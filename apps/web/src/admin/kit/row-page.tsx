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
  /** Asks for the row that the address names by its `id`. */
  query: (id: number) => UseQueryOptions<Row, Error, Row, Key>
  back: Back
  /** Milliseconds between two looks at the row; false: it is not looked at again by itself. */
  poll?: (row: Row) => number | false
  /** What is said where there is no such row. */
  gone: { title: string; body: string }
  /** What is said where it could not be read and the server did not say why. */
  fallback?: string
  children: (row: Row) => ReactNode
}

/** A page of one row, with what stands there until it is read, and where it is gone or cannot be read. */
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

/** The line above such a page: the way back to the list, what the row is, and what can be done with it. */
export function RowPageHead({ back, actions, children }: { back: Back; actions: ReactNode; children: ReactNode }) {
  return (
    <div className={classes.head}>
      <Link to={back.to} className={classes.back}>
        <IconArrowLeft size={16} aria-hidden />
        {back.title}
      </Link>
      {children}
      <span className={classes.actions}>{actions}</span>
    </div>
  )
}

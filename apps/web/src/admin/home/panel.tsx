import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useId, type ReactNode } from 'react'
import type { ReplyOf } from '@netlet/contract'
import type { CallArguments, Endpoint } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { useMay } from '../../api/session.ts'
import { ErrorState } from '../../kit/states.tsx'
import classes from './home.module.css'

/** Milliseconds. The change feed reports most changes, but not mails, dead letters or the passing of time. */
export const EVERY = 15_000

type Props<R extends Endpoint> = {
  title: string
  /** The call with its figures. Roles that may not make it do not see the panel. */
  route: R
  wide?: boolean
  children: (data: ReplyOf<R>) => ReactNode
}

/** A part of the home page. Each reads its own figures, so that one failure does not affect the others. */
export function Panel<R extends Endpoint>(props: Props<R>) {
  const { mayCall } = useMay()
  return mayCall(props.route) ? <Shown {...props} /> : null
}

function Shown<R extends Endpoint>({ title, route, wide = false, children }: Props<R>) {
  const id = useId()
  const { data, error, refetch } = useQuery({
    ...read(route, ...([] as unknown as CallArguments<R>)),
    refetchInterval: EVERY
  })
  return (
    <section
      className={`card stack panel shrinks ${classes.panel}`}
      style={{ gap: '0.8rem' }}
      aria-labelledby={id}
      aria-busy={!data && !error}
      data-wide={wide}
    >
      <h3 id={id}>{title}</h3>
      {data !== undefined ? (
        children(data)
      ) : error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton height={160} />
      )}
    </section>
  )
}

import type { CurrentUser, OwnSession, User, UserDetail } from '@netlet/contract'
import { deviceIn } from '@netlet/contract/device-words'
import { useQuery } from '@tanstack/react-query'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { accounts, secondFactor } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { Ago } from '../../kit/time.tsx'
import { type Column, DataTable, risky, useCommand, WorkButton } from '../kit/index.ts'
import { Address } from './cells.tsx'

/** The permission for changing this user: only owners change other administrators. */
export const permissionToChange = (user: User, me: CurrentUser | null) =>
  user.is_superuser && user.id !== me?.id ? ('operators.change' as const) : undefined

/** A user's sessions. One or all can be ended. */
export function SessionsTab({ user }: { user: UserDetail }) {
  const t = useT()
  const language = useLanguage()
  const params = { id: user.id }
  const { data, isPending, error, refetch } = useQuery(read(accounts.userSessions, { params }))
  const { me, may, mayCall } = useMay()
  const mayEnd = mayCall(accounts.endUserSessions) && may(permissionToChange(user, me))
  const count = data?.filter(session => !session.is_current).length ?? 0
  const endAll = useCommand(accounts.endUserSessions, {
    confirm: risky(
      {
        title: t('users.endAllTitle'),
        body: t('users.endAllBody', { user: user.username, count }),
        danger: true
      },
      count
    ),
    invalidate: [accounts.userSessions, accounts.user]
  })
  const columns: Column<OwnSession>[] = [
    {
      key: 'device',
      title: t('users.device'),
      lead: true,
      render: ({ device }) => (device === null ? t('users.unknown') : deviceIn(language, device))
    },
    {
      key: 'ip',
      title: t('users.address'),
      render: session => <Address ip={session.ip} country={session.location} />
    },
    { key: 'created_at', title: t('users.signedIn'), render: session => <Ago at={session.created_at} /> },
    { key: 'seen', title: t('users.seen'), render: session => <Ago at={session.last_seen_at} /> },
    { key: 'end', title: t('list.actions'), align: 'end', render: session => <End session={session} may={mayEnd} /> }
  ]
  const reset = useCommand(secondFactor.resetSecondFactor, {
    confirm: {
      title: t('users.resetFactorsTitle'),
      body: t('users.resetFactorsBody', { user: user.username }),
      danger: true
    },
    success: t('users.resetFactorsDone'),
    invalidate: [accounts.userSessions, accounts.user]
  })
  const canReset = user.second_factors > 0 && user.id !== me?.id && mayCall(secondFactor.resetSecondFactor)
  return (
    <div className="stack">
      {((count > 0 && mayEnd) || canReset) && (
        <div className="row">
          {count > 0 && mayEnd && (
            <WorkButton
              variant="default"
              size="sm"
              className="bad"
              working={endAll.running}
              onClick={() => void endAll.run({ params })}
            >
              {t('users.endAll')}
            </WorkButton>
          )}
          {canReset && (
            <WorkButton
              variant="default"
              size="sm"
              className="bad"
              working={reset.running}
              onClick={() => void reset.run({ params })}
            >
              {t('users.resetFactors')}
            </WorkButton>
          )}
        </div>
      )}
      <DataTable
        label={t('users.tab.sessions')}
        columns={columns}
        rows={data}
        rowKey={session => session.id}
        pending={isPending}
        error={error}
        onRetry={() => void refetch()}
        empty={{ title: t('users.none.sessions') }}
      />
    </div>
  )
}

function End({ session, may }: { session: OwnSession; may: boolean }) {
  const t = useT()
  const language = useLanguage()
  const device = session.device === null ? t('users.unknown') : deviceIn(language, session.device)
  const end = useCommand(accounts.endUserSession, {
    confirm: { title: t('users.endTitle'), body: t('users.endBody', { device }), danger: true },
    invalidate: [accounts.userSessions, accounts.user]
  })
  if (session.is_current) return <span className="dim">{t('users.current')}</span>
  if (!may) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      aria-label={`${t('users.end')}: ${device}`}
      working={end.running}
      onClick={() => void end.run({ params: { id: session.id } })}
    >
      {t('users.end')}
    </WorkButton>
  )
}

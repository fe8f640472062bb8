import type { UserApiKey, UserDetail } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { StateBadge } from '../../kit/state-badge.tsx'
import { Ago, Day } from '../../kit/time.tsx'
import { DataTable, type Column } from '../kit/index.ts'
import { none } from '../../kit/none.tsx'

/** A user's API keys, including ended ones. Only the owner can revoke a single key. */
export function KeysTab({ user }: { user: UserDetail }) {
  const t = useT()
  const { data, isPending, error, refetch } = useQuery(read(accounts.userApiKeys, { params: { id: user.id } }))
  const columns: Column<UserApiKey>[] = [
    { key: 'name', title: t('users.keyName'), lead: true, render: key => key.name },
    { key: 'hint', title: t('users.keyHint'), render: key => <span className="mono">{`${key.hint}…`}</span> },
    { key: 'scopes', title: t('users.scopes'), render: key => key.scopes.join(', ') },
    {
      key: 'state',
      title: t('users.status'),
      render: key => (
        <StateBadge tone={key.revoked_at ? 'off' : 'good'}>
          {t(key.revoked_at ? 'users.keyEnded' : 'users.active')}
        </StateBadge>
      )
    },
    { key: 'created_at', title: t('users.keyMade'), render: key => <Day at={key.created_at} /> },
    {
      key: 'used',
      title: t('users.used'),
      render: key => (key.last_used_at ? <Ago at={key.last_used_at} /> : t('users.never'))
    },
    { key: 'ended', title: t('users.ended'), render: key => (key.revoked_at ? <Ago at={key.revoked_at} /> : none) }
  ]
  return (
    <DataTable
      label={t('users.tab.keys')}
      columns={columns}
      rows={data}
      rowKey={key => key.id}
      pending={isPending}
      error={error}
      onRetry={() => void refetch()}
      empty={{ title: t('users.none.keys') }}
    />
  )
}

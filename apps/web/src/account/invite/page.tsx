import { pageAt } from '@netlet/contract/pages'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { accounts } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import { DataTable } from '../../kit/data-table.tsx'
import { numberText } from '../../kit/money.ts'
import { ErrorState } from '../../kit/states.tsx'
import { Day } from '../../kit/time.tsx'
import { useAddressPaging } from '../../kit/use-paging.ts'
import classes from './invite.module.css'

/** As long as the real code, so that it wraps to as many lines. */
const SAMPLE_CODE = 'w'.repeat(8)
const SAMPLE_URL = `${window.location.origin}${pageAt('createAccount')}?invite_code=${SAMPLE_CODE}`

export default function InvitePage() {
  const t = useT()
  const paging = useAddressPaging(10)
  const invite = useQuery(read(accounts.inviteCode))
  const log = useQuery({
    ...read(accounts.inviteLog, { query: { limit: paging.limit, offset: paging.offset } }),
    placeholderData: previous => previous
  })
  return (
    <div className="stack">
      <p className="dim" style={{ maxWidth: '44rem' }}>
        {t('invite.tip')}
      </p>
      <div className="card" style={{ padding: '0.5rem 1.25rem' }}>
        {invite.error ? (
          <ErrorState error={invite.error} onRetry={() => void invite.refetch()} />
        ) : (
          <>
            <Line name={t('invite.url')} value={invite.data?.invite_url} sample={SAMPLE_URL} copied />
            <Line name={t('invite.code')} value={invite.data?.invite_code} sample={SAMPLE_CODE} copied />
            <Line
              name={t('invite.fraction')}
              value={invite.data && numberText(invite.data.coin_fraction)}
              sample="0.00"
            />
          </>
        )}
      </div>
      <h2 className="size-title" style={{ marginTop: '0.75rem' }}>
        {t('invite.users')}
      </h2>
      <DataTable
        label={t('invite.users')}
        columns={[
          { key: 'id', title: t('invite.number'), render: user => user.id },
          { key: 'username', title: t('settings.username'), lead: true, render: user => user.username },
          { key: 'created', title: t('invite.registered'), render: user => <Day at={user.created_at} /> }
        ]}
        rows={log.data?.data}
        rowKey={user => user.id}
        pending={log.isPending}
        stale={log.isPlaceholderData}
        error={log.error}
        onRetry={() => void log.refetch()}
        empty={{
          title: t('invite.none'),
          body: t('invite.noneHint'),
          action: invite.data && (
            <CopyButton text={invite.data.invite_url} size="sm">
              {t('invite.copy')}
            </CopyButton>
          )
        }}
        paging={paging}
        total={log.data?.total}
      />
    </div>
  )
}

type LineProps = { name: string; value: string | undefined; sample: string; copied?: boolean }

function Line({ name, value, sample, copied = false }: LineProps) {
  const text = <code className="mono breaks">{value ?? sample}</code>
  return (
    <div className={classes.line}>
      <span className="dim">{name}</span>
      {value ? text : <Skeleton aria-hidden>{text}</Skeleton>}
      {copied && <CopyButton text={value ?? ''} name={name} disabled={!value} />}
    </div>
  )
}

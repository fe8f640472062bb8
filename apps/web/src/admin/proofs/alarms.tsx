import type { AccessProof } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { fleet, home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Ago } from '../../kit/time.tsx'
import { type Column, ListSection, useCommand, WorkButton } from '../kit/index.ts'

/** Milliseconds between polls. Open ones are tried every three minutes. */
const EVERY = 60_000

/** Credentials whose test failed, each with its order and server and a button to acknowledge it. */
export function ProofAlarms() {
  const t = useT()
  const { mayCall } = useMay()
  const query = useQuery({
    ...read(fleet.proofs, { query: {} }),
    refetchInterval: EVERY,
    enabled: mayCall(fleet.proofs)
  })
  if (!mayCall(fleet.proofs)) return null
  const columns: Column<AccessProof>[] = [
    { key: 'kind', title: t('proofs.what'), lead: true, render: row => t(`proofs.open.${row.kind}`) },
    {
      key: 'server',
      title: t('proofs.server'),
      render: row => <Link to={`${pageAt('servers')}?detail=${row.server_id}`}>{row.server}</Link>
    },
    {
      key: 'order',
      title: t('proofs.order'),
      render: row => <Link to={pageAt('order', { id: row.order_id })}>{row.order_id}</Link>
    },
    {
      key: 'addresses',
      title: t('proofs.addresses'),
      render: row => <span className="mono">{row.prefixes.join(', ')}</span>
    },
    { key: 'answer', title: t('proofs.last'), render: row => <LastTry proof={row} /> },
    { key: 'since', title: t('proofs.since'), render: row => <Ago at={row.asked_at} /> },
    { key: 'actions', title: t('list.actions'), hidden: true, render: row => <Acknowledge proof={row} /> }
  ]
  return (
    <ListSection
      id="proofs"
      title={t('proofs.title')}
      query={query}
      columns={columns}
      rows={query.data?.proofs}
      rowKey={row => row.id}
      empty={{ title: t('proofs.none'), body: t('proofs.noneHint') }}
    />
  )
}

function LastTry({ proof: { tries } }: { proof: AccessProof }) {
  const t = useT()
  const [last] = tries
  if (!last) return null
  const { answer, address, seen } = last
  return (
    <>
      {t(`proofs.answer.${answer}`)} <span className="mono">{address}</span>
      {seen !== null && seen !== address && <> {t('proofs.seenFrom', { address: seen })}</>}
    </>
  )
}

function Acknowledge({ proof }: { proof: AccessProof }) {
  const t = useT()
  const { mayCall } = useMay()
  const acknowledge = useCommand(fleet.acknowledgeProof, {
    invalidate: [fleet.proofs, home.attention],
    confirm: { title: t('proofs.acknowledge'), body: t('proofs.acknowledgeBody'), danger: true },
    success: t('proofs.acknowledged')
  })
  if (!mayCall(fleet.acknowledgeProof)) return null
  return (
    <WorkButton
      size="compact-sm"
      variant="default"
      working={acknowledge.running}
      onClick={() => void acknowledge.run({ params: { id: proof.id } })}
    >
      {t('proofs.acknowledge')}
    </WorkButton>
  )
}

import { IconMailForward } from '@tabler/icons-react'
import { BLOCK_CAUSES, type BlockedAddress } from '@netlet/contract'
import { mail } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { column, defineResource, integer, moment, oneOf } from '../kit/index.ts'
import { none } from '../../kit/none.tsx'

/** Addresses that the shop does not mail until an operator releases them. */
export const BlockedAddresses = defineResource({
  key: 'blocks',
  list: mail.blocks,
  address: ['tab'],
  nameOf: row => row.address,
  columns: [
    integer('id', { optional: true }),
    column('address', (row: BlockedAddress) => row.address, { lead: true }),
    column('cause', (row: BlockedAddress) => <Cause row={row} />),
    column('reason', (row: BlockedAddress) => row.reason || none, { wide: true }),
    column('source', (row: BlockedAddress) => <Source row={row} />),
    moment('at')
  ],
  sort: ['id'],
  filters: [oneOf('cause', BLOCK_CAUSES, 'blocks.causeIs')],
  rowActions: [
    {
      name: 'lift',
      icon: IconMailForward,
      route: mail.liftBlock,
      confirm: (t, { address, cause }) => ({
        title: t('blocks.lift'),
        body: t(cause === 'complained' ? 'blocks.liftBodyComplained' : 'blocks.liftBody', { address })
      }),
      success: t => t('blocks.lifted')
    }
  ],
  csv: true
})

function Cause({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.causeIs.${row.cause}`)}</>
}

function Source({ row }: { row: BlockedAddress }) {
  const t = useT()
  return <>{t(`blocks.sourceIs.${row.source}`)}</>
}

import type { Found } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { IconMapPin, IconPackage, IconReceipt, IconServer, IconUser } from '@tabler/icons-react'
import { useMay } from '../../api/session.ts'
import { read } from '../../api/query.ts'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { pathOf } from '../manifest.ts'
import type { Entry, Group } from './use-actions.ts'

/** Milliseconds without typing before we ask the server. */
const PAUSE = 200
/** Milliseconds for which an answer stays fresh. */
const FRESH = 10_000
/** The contract's limit. Nothing has a longer name. */
const LONGEST = 200

type Rows = { exact: Group[]; others: Group[]; asking: boolean; failed: boolean }

/** The server's search results by kind, once the user pauses typing. */
export function useFound(typed: string): Rows {
  const [term] = useDebouncedValue(typed, PAUSE)
  const asked = term !== '' && term === typed && term.length <= LONGEST
  const { data, isFetching, isError } = useQuery({
    ...read(home.search, { query: { q: term } }),
    enabled: asked,
    staleTime: FRESH,
    retry: false
  })
  const groups = useGroups()
  const { exact, others } = asked && data ? groups(data) : { exact: [], others: [] }
  return { exact, others, asking: typed !== '' && (term !== typed || isFetching), failed: asked && isError }
}

/** Exact matches come first. Each row links to its own page or view. */
function useGroups() {
  const t = useT()
  const { may } = useMay()
  return ({ orders, users, servers, products, address }: Found) => {
    const kinds = [
      {
        id: 'orders',
        title: t('palette.orders'),
        items: orders.map(row => ({
          id: `order.${row.id}`,
          label: row.order_id,
          description: [row.username, row.product_name, t(`orders.is.${row.state}`)].join(' · '),
          icon: IconReceipt,
          to: pageAt('order', { id: row.id }),
          exact: row.exact
        }))
      },
      {
        id: 'users',
        title: t('palette.users'),
        items: users.map(row => ({
          id: `user.${row.id}`,
          label: row.username,
          description: row.email,
          icon: IconUser,
          to: pageAt('user', { id: row.id }),
          exact: row.exact
        }))
      },
      {
        id: 'servers',
        title: t('palette.servers'),
        items: servers.map(row => ({
          id: `server.${row.id}`,
          label: row.name,
          description: [row.ip, ...(row.status === 'active' ? [] : [t(`servers.is.${row.status}`)])].join(' · '),
          icon: IconServer,
          to: `${pathOf('servers')}?open=${row.id}`,
          exact: row.exact
        }))
      },
      {
        id: 'products',
        title: t('palette.products'),
        items: products.map(row => ({
          id: `product.${row.id}`,
          label: row.product_name,
          ...(row.active ? {} : { description: t('palette.notOffered') }),
          icon: IconPackage,
          to: `${pathOf('productManager')}/${row.id}`,
          exact: row.exact
        }))
      }
    ]
    const named = kinds.map(kind => ({ ...kind, items: kind.items.filter(({ exact }) => exact) }))
    const others = kinds.map(kind => ({ ...kind, items: kind.items.filter(({ exact }) => !exact) }))
    return {
      exact: [...named.map(group => ({ ...group, id: `${group.id}.exact` })), ...addressGroup(address)],
      others
    }
  }

  function addressGroup(found: Found['address']): Group[] {
    if (!found) return []
    const { address, range, holders } = found
    const items: Entry[] = holders.map(({ id, order_id, username }) => ({
      id: `holder.${id}`,
      label: order_id,
      description: t('palette.holds', { username, address }),
      icon: IconReceipt,
      to: pageAt('order', { id })
    }))
    if (may('addresses.view'))
      items.push({
        id: 'address',
        label: t('palette.whoHad', { address }),
        icon: IconMapPin,
        to: `${pathOf('addresses')}?${new URLSearchParams({ address }).toString()}`
      })
    if (range)
      items.push({
        id: 'range',
        label: t('palette.range', { range: range.cidr }),
        icon: IconMapPin,
        to: `${pathOf('CIDRManage')}?detail=${range.id}`
      })
    return [{ id: 'address', title: t('palette.address'), items }]
  }
}

import { NativeSelect } from '@mantine/core'
import { PROXY_STATUSES } from '@netlet/contract/limits'
import type { RefObject } from 'react'
import { useT as useAccountT } from '../../i18n/account.ts'
import { useT, type T } from '../../i18n/proxies.ts'
import { FilterBar } from '../../kit/filter-bar.tsx'
import { siteOf, SITE_FILTERS, SORTS, statusOf, type ProxyList } from './use-proxy-list.ts'

export const SITE_NAMES = { google: 'Google', bing: 'Bing', amazon: 'Amazon' } as const

const STATUS_WORDS = { available: 'proxy.good', unavailable: 'proxy.bad', unchecked: 'proxy.unknown' } as const

const sortName = (t: T, by: (typeof SORTS)[number]) =>
  by === 'id' || by === 'ip'
    ? t(`proxy.sort.${by}`)
    : t('proxy.sort.delay', { site: SITE_NAMES[by.slice(0, -'_delay'.length) as keyof typeof SITE_NAMES] })

type Props = { list: ProxyList; narrow: boolean; field: RefObject<HTMLInputElement | null> }

/** Filters an order's proxies. On a phone, which has no table header, it also sorts. */
export function ProxyFilters({ list, narrow, field }: Props) {
  const t = useT()
  const tAccount = useAccountT()
  const { filters, typed, sort } = list
  return (
    <div style={{ padding: '0.6rem 0.9rem' }}>
      <FilterBar
        label={t('proxy.title')}
        search={{ label: t('proxy.find'), field, typed, onType: list.type }}
        active={Number(filters.status !== '') + Number(filters.site !== '')}
        onClear={list.clear}
      >
        <NativeSelect
          size="sm"
          aria-label={t('proxy.filterStatus')}
          value={filters.status}
          onChange={event => list.setStatus(statusOf(event.currentTarget.value))}
          data={[
            { value: '', label: t('proxy.anyStatus') },
            ...PROXY_STATUSES.map(value => ({ value, label: tAccount(STATUS_WORDS[value]) }))
          ]}
        />
        <NativeSelect
          size="sm"
          aria-label={t('proxy.filterSite')}
          value={filters.site}
          onChange={event => list.setSite(siteOf(event.currentTarget.value))}
          data={[
            { value: '', label: t('proxy.anySite') },
            ...SITE_FILTERS.map(value => {
              const [answer, site] = value.split(':') as ['answers' | 'silent', keyof typeof SITE_NAMES]
              return { value, label: t(`proxy.${answer}`, { site: SITE_NAMES[site] }) }
            })
          ]}
        />
        {narrow && (
          <NativeSelect
            size="sm"
            aria-label={t('proxy.sort')}
            value={sort.by}
            onChange={event =>
              list.setSort({ by: SORTS.find(one => one === event.currentTarget.value) ?? 'id', order: 'asc' })
            }
            data={SORTS.map(value => ({ value, label: sortName(t, value) }))}
          />
        )}
      </FilterBar>
    </div>
  )
}

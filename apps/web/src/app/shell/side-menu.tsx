import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Link, NavLink } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { useNames } from '../../i18n/names.ts'
import { numberText } from '../../kit/money.ts'
import { pathOf } from '../manifest.ts'
import type { Section } from './menu.ts'
import classes from './side-menu.module.css'

/** Pixels left beside the current entry, so that its neighbour hints at more. */
const ROOM = 24

/** @param props.current the entry of the current page, or of the screen that the page is within */
export function SideMenu({ menu, current }: { menu: Section[]; current: string | undefined }) {
  const t = useT()
  const nav = useRef<HTMLElement>(null)
  // Scroll the current entry of a long menu into view.
  useEffect(() => {
    const link = nav.current?.querySelector('[aria-current]')
    const side = nav.current?.parentElement
    if (!link || !side) return
    const [its, all] = [link.getBoundingClientRect(), side.getBoundingClientRect()]
    if (its.bottom > all.bottom) side.scrollTop += its.bottom - all.bottom + ROOM
    else if (its.top < all.top) side.scrollTop -= all.top - its.top + ROOM
  }, [current])
  return (
    <nav ref={nav} aria-label={t('menu.dashboard')}>
      {menu.map((section, index) => (
        <div key={index} className={classes.section}>
          {section.title && (
            <p className="strong dim size-label" style={{ marginBottom: '0.3rem', paddingInline: '0.75rem' }}>
              {t(section.title)}
            </p>
          )}
          <ul>
            {section.items.map(({ id, title, to, icon: Icon, collections }) => (
              <li key={id}>
                {collections ? (
                  <>
                    {/* The first entry below leads to the same page and carries `aria-current`. */}
                    <Link to={to} className={classes.link}>
                      <Icon size={19} aria-hidden />
                      {t(title)}
                    </Link>
                    <Collections />
                  </>
                ) : (
                  <Link to={to} className={classes.link} aria-current={id === current ? 'page' : undefined}>
                    <Icon size={19} aria-hidden />
                    {t(title)}
                  </Link>
                )}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </nav>
  )
}

/** Links to the newest orders and to each collection's orders, with counts. */
function Collections() {
  const t = useT()
  const names = useNames()
  const { data } = useQuery(read(catalog.collections, { query: { limit: 50 } }))
  const collections = data?.data ?? []
  const counts = useQueries({
    queries: collections.map(({ id }) => read(orders.list, { query: { product_type: id, limit: 1 } }))
  })
  const all = useQuery(read(orders.list, { query: { limit: 1 } }))
  return (
    <ul className={classes.below}>
      <Below to={pathOf('Proxies')} name={t('orders.label')} count={all.data?.total} />
      {collections.map((collection, index) => (
        <Below
          key={collection.id}
          to={`${pathOf('Proxies')}/${collection.id}`}
          name={names.collection(collection)}
          count={counts[index]?.data?.total}
        />
      ))}
    </ul>
  )
}

function Below({ to, name, count }: { to: string; name: string; count: number | undefined }) {
  const t = useT()
  return (
    <li>
      <NavLink to={to} end className={classes.link}>
        <span className={classes.name}>{name}</span>
        <span className={classes.badge}>
          <span className="sr-only">{t('menu.count')} </span>
          {/* If the count failed, show 0. */}
          {numberText(count ?? 0)}
        </span>
      </NavLink>
    </li>
  )
}

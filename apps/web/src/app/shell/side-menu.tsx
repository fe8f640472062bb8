import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { Link, NavLink } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog, orders } from '../../api/routes.ts'
import { useT } from '../../i18n/account.ts'
import { pathOf } from '../manifest.ts'
import type { Section } from './menu.ts'
import classes from './side-menu.module.css'

/** Pixels that are left beside the current entry, so that its neighbour shows that there is more. */
const ROOM = 24

/** @param props.current the entry that the page belongs to, also where it is a page below it */
export function SideMenu({ menu, current }: { menu: Section[]; current: string | undefined }) {
  const t = useT()
  const nav = useRef<HTMLElement>(null)
  // A long menu scrolls by itself: where somebody is has to be in sight.
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
          {section.title && <p className={classes.title}>{t(section.title)}</p>}
          <ul>
            {section.items.map(({ id, title, to, icon: Icon, collections }) => (
              <li key={id}>
                {collections ? (
                  <>
                    <NavLink to={to} end className={classes.link}>
                      <Icon size={19} aria-hidden />
                      {t(title)}
                    </NavLink>
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

/** The user's orders by collection, each with how many there are. */
function Collections() {
  const t = useT()
  const { data } = useQuery(read(catalog.collections, { query: { limit: 50 } }))
  const collections = data?.data ?? []
  const counts = useQueries({
    queries: collections.map(({ id }) => read(orders.list, { query: { product_type: id, limit: 1 } }))
  })
  return (
    <ul className={classes.below}>
      {collections.map(({ id, collection_name }, index) => (
        <li key={id}>
          <NavLink to={`${pathOf('Proxies')}/${id}`} className={classes.link}>
            <span className={classes.name}>{collection_name}</span>
            {/* A count that failed shows 0. */}
            <span className={classes.badge} aria-label={t('menu.count')}>
              {counts[index]?.data?.total ?? 0}
            </span>
          </NavLink>
        </li>
      ))}
    </ul>
  )
}

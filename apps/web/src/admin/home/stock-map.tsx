import type { StockMap } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { useRef } from 'react'
import { Link } from 'react-router'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/money.ts'
import { useScrollShade } from '../kit/index.ts'
import classes from './home.module.css'
import { Panel } from './panel.tsx'

/** Free addresses by group and rule. The more there are, the darker the background. */
export function StockPanel() {
  const t = useT()
  return (
    <Panel title={t('home.stock')} route={home.stock} wide>
      {stock =>
        stock.groups.length === 0 || stock.rules.length === 0 ? (
          <p className="dim">{t('home.noStock')}</p>
        ) : (
          <Map stock={stock} />
        )
      }
    </Panel>
  )
}

const rangesOf = (group: { id: number }, rule: { id: number }) =>
  `${pageAt('CIDRManage')}?group_id=${group.id}&sold_with=${rule.id}`

/** Per cent of the accent colour. Logarithmic, or one large group would hide all others. */
const strength = (free: number, most: number) => (free === 0 ? 0 : 8 + 34 * (Math.log1p(free) / Math.log1p(most)))

function Map({ stock: { groups, rules, free, more } }: { stock: StockMap }) {
  const t = useT()
  const scroll = useRef<HTMLDivElement>(null)
  // The column of group names stays fixed, so it needs no shade at the start.
  const { className: shaded, 'data-after': after, 'data-before': before } = useScrollShade(scroll)
  const most = Math.max(1, ...free.flat())
  const hasBoth = (id: number) => groups.filter(group => group.id === id).length > 1
  return (
    <>
      <div
        ref={scroll}
        className={`${classes.scroll} ${shaded}`}
        role="group"
        aria-label={t('home.stock')}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolling needs the keyboard too
        tabIndex={0}
        data-after={after}
        data-scrolled={before}
      >
        <table className={classes.map}>
          <thead>
            <tr>
              <th scope="col">{t('home.group')}</th>
              {rules.map(rule => (
                <th key={rule.id} scope="col">
                  <Link to={`${pageAt('AclManager')}?search=${encodeURIComponent(rule.name)}`}>{rule.name}</Link>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group, line) => (
              <tr key={`${group.id}.${group.family}`}>
                <th scope="row">
                  <Link to={`${pageAt('servergroup')}?search=${encodeURIComponent(group.name)}`}>{group.name}</Link>
                  {(group.family === 'ipv6' || hasBoth(group.id)) && (
                    <span className="dim"> {t(`products.family.${group.family}`)}</span>
                  )}
                </th>
                {rules.map((rule, at) => {
                  const figure = free[line]?.[at] ?? 0
                  return (
                    <td
                      key={rule.id}
                      className="num"
                      data-none={figure === 0}
                      style={{ '--strength': `${strength(figure, most)}%` } as React.CSSProperties}
                    >
                      <Link
                        to={rangesOf(group, rule)}
                        aria-label={t('home.cell', { group: group.name, rule: rule.name, count: numberText(figure) })}
                      >
                        {numberText(figure)}
                      </Link>
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {(more.groups > 0 || more.rules > 0) && (
        <p className="dim">{t('home.moreStock', { groups: more.groups, rules: more.rules })}</p>
      )}
    </>
  )
}

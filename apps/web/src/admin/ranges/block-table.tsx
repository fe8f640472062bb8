import type { Occupancy } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { KINDS } from './picture.tsx'
import classes from './ranges.module.css'

/** The picture as a table of the blocks in use. */
export function BlockTable({ occupancy }: { occupancy: Occupancy }) {
  const t = useT()
  const used = occupancy.blocks.filter(({ free }) => free < occupancy.block_units)
  return (
    <details>
      <summary>{t('ranges.asTable', { count: used.length })}</summary>
      <div
        className={classes.tables}
        tabIndex={0}
        role="group"
        aria-label={t('ranges.asTable', { count: used.length })}
      >
        <table className={classes.figures}>
          <thead>
            <tr>
              <th scope="col">{t('ranges.block')}</th>
              {KINDS.map(kind => (
                <th key={kind} scope="col" data-align="end">
                  {t(`ranges.kind.${kind}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {used.map(block => (
              <tr key={block.part}>
                <th scope="row">
                  <Link
                    className="mono"
                    to={`${pageAt('addresses')}?${new URLSearchParams({ address: block.part, from: 'now' })}`}
                  >
                    {block.part}
                  </Link>
                </th>
                {KINDS.map(kind => (
                  <td key={kind} data-align="end" className="num">
                    {numberText(block[kind])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

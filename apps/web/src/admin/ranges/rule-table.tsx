import type { Occupancy } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import { KINDS } from './picture.tsx'
import classes from './ranges.module.css'

type Props = { occupancy: Occupancy; onChoose: (rule: number | null) => void }

/** Figures by rule. Clicking a rule shows the picture for it alone. */
export function RuleTable({ occupancy, onChoose }: Props) {
  const t = useT()
  return (
    <div className={classes.tables} tabIndex={0} role="group" aria-label={t('ranges.byRule')}>
      <table className={classes.figures}>
        <caption>{t('ranges.byRule')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('ranges.rule')}</th>
            {KINDS.map(kind => (
              <th key={kind} scope="col" data-align="end">
                {t(`ranges.kind.${kind}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row" colSpan={KINDS.length + 1}>
              <button
                type="button"
                className="bare"
                aria-pressed={occupancy.rule === null}
                onClick={() => onChoose(null)}
              >
                {t('ranges.allRules')}
              </button>
            </th>
          </tr>
          {occupancy.rules.map(rule => (
            <tr key={rule.id}>
              <th scope="row">
                <button
                  type="button"
                  className="bare"
                  aria-pressed={occupancy.rule?.id === rule.id}
                  onClick={() => onChoose(rule.id)}
                >
                  {rule.name}
                </button>
                {rule.excluded && (
                  <span className="bad size-label" style={{ marginInlineStart: '0.5rem' }}>
                    {t('ranges.kind.excluded')}
                  </span>
                )}
              </th>
              {KINDS.map(kind => (
                <td key={kind} data-align="end" className="num">
                  {rule.excluded && kind === 'free' ? '–' : numberText(rule[kind])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

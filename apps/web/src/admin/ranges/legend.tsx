import { useT } from '../../i18n/admin.ts'
import { KINDS } from './picture.tsx'
import classes from './ranges.module.css'

export function Legend({ excluded }: { excluded: boolean }) {
  const t = useT()
  return (
    <>
      <ul className={classes.legend}>
        {KINDS.map(kind => (
          <li key={kind} data-kind={kind === 'free' && excluded ? 'excluded' : kind}>
            {t(kind === 'free' && excluded ? 'ranges.kind.excluded' : `ranges.kind.${kind}`)}
          </li>
        ))}
      </ul>
      <p className="dim">{t('ranges.blockedHint')}</p>
    </>
  )
}

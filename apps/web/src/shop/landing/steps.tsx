import { useT } from '../../i18n/landing.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import classes from './more.module.css'

/** A customer's first request. The words in capitals come from the order. */
const LINE = 'curl -x http://USER:PASSWORD@IP:PORT https://www.example.com/'

export function Steps() {
  const t = useT()
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="steps">
      <h2 id="steps">{t('steps.title')}</h2>
      <ol className={classes.steps}>
        {(['buy', 'copy', 'connect'] as const).map((step, at) => (
          <li key={step}>
            <span className={classes.number} aria-hidden>
              {at + 1}
            </span>
            <h3>{t(`steps.${step}`)}</h3>
            <p className="dim">{t(`steps.${step}Text`)}</p>
          </li>
        ))}
      </ol>
      <div className={`card ${classes.line}`}>
        <p className={classes.lineTitle}>{t('steps.line')}</p>
        <code>{LINE}</code>
        <CopyButton text={LINE} name={t('steps.lineName')} size="sm" />
      </div>
    </section>
  )
}

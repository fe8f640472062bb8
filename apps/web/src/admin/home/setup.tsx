import type { SetupStep } from '@netlet/contract'
import { pageAt } from '@netlet/contract/pages'
import { IconCheck, IconChevronRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Link } from 'react-router'
import { useMay } from '../../api/may.ts'
import { read } from '../../api/query.ts'
import { home } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { numberText } from '../../kit/number.ts'
import classes from './home.module.css'
import { EVERY } from './panel.tsx'

const PLACES: Record<SetupStep, string> = {
  platform: `${pageAt('WebsiteSettings')}?tab=shopify`,
  mail: `${pageAt('WebsiteSettings')}?tab=email`,
  rule: `${pageAt('AclManager')}?form=new`,
  server: `${pageAt('servers')}?form=new`,
  group: `${pageAt('servergroup')}?form=new`,
  product: pageAt('productManager')
}

/** What a new shop needs before it can sell. Hidden once everything is done. */
export function SetupPanel() {
  const { mayCall } = useMay()
  return mayCall(home.setup) ? <Steps /> : null
}

function Steps() {
  const t = useT()
  const id = useId()
  // If it cannot be read, show nothing: the other panels report that the server does not answer.
  const { data } = useQuery({ ...read(home.setup), refetchInterval: EVERY })
  if (!data || data.every(({ done }) => done)) return null
  return (
    <section className={`card ${classes.panel}`} aria-labelledby={id} data-wide>
      <h3 id={id}>{t('home.setup')}</h3>
      <p className="dim">{t('home.setupHint')}</p>
      <ol className={classes.steps}>
        {data.map(({ step, done }, at) => (
          <li key={step}>
            <Link to={PLACES[step]} className={classes.item} data-done={done}>
              {done ? (
                <IconCheck size={20} aria-label={t('home.stepDone')} />
              ) : (
                <strong className="num">{numberText(at + 1)}</strong>
              )}
              <span>
                <span>{t(`home.step.${step}`)}</span>
                <small className={classes.stepHint}>{t(`home.stepHint.${step}`)}</small>
              </span>
              <IconChevronRight size={16} aria-hidden />
            </Link>
          </li>
        ))}
      </ol>
    </section>
  )
}

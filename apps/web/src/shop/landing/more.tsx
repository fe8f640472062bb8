import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT as useShellT } from '../../i18n/index.ts'
import { useT } from '../../i18n/landing.ts'
import classes from './more.module.css'
import { Places } from './places.tsx'
import { Uses } from './uses.tsx'
import { IconArrowRight } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { read } from '../../api/query.ts'
import { support } from '../../api/routes.ts'
import { QuestionList } from '../question-list.tsx'
import { CopyButton } from '../../kit/copy-button.tsx'

/** A customer's first request. The words in capitals come from the order. */
const LINE = 'curl -x http://USER:PASSWORD@IP:PORT https://www.example.com/'

function Steps() {
  const t = useT()
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="steps">
      <h2 id="steps">{t('steps.title')}</h2>
      <ol className={classes.steps}>
        {(['buy', 'copy', 'connect'] as const).map((step, at) => (
          <li key={step} className="stack">
            <span className={`size-table strong ${classes.number}`} aria-hidden>
              {at + 1}
            </span>
            <h3>{t(`steps.${step}`)}</h3>
            <p className="dim">{t(`steps.${step}Text`)}</p>
          </li>
        ))}
      </ol>
      <div className={`card ${classes.line}`}>
        <p className="quiet size-table">{t('steps.line')}</p>
        <code className="size-table breaks">{LINE}</code>
        <CopyButton text={LINE} name={t('steps.lineName')} size="sm" />
      </div>
    </section>
  )
}

const SHOWN = 5

function Questions() {
  const t = useT()
  const { data, isPending } = useQuery({ ...read(support.faqs, { query: { limit: SHOWN } }), staleTime: 60_000 })
  if (!isPending && !data?.data.length) return null
  return (
    <section className={`wide ${classes.section} ${classes.split}`} aria-labelledby="questions">
      <div>
        <h2 id="questions">{t('questions.title')}</h2>
        <p style={{ marginTop: '1rem' }}>
          <Link to={pageAt('support')} className={`row unwrapped inline strong plain ${classes.after}`}>
            {t('questions.all')} <IconArrowRight size={16} aria-hidden />
          </Link>
        </p>
      </div>
      <QuestionList questions={data?.data} places={SHOWN} />
    </section>
  )
}

/** The rest of the landing page. Parts without content are omitted. */
export function More() {
  return (
    <>
      <Steps />
      <Uses />
      <Places />
      <Questions />
      <End />
    </>
  )
}

function End() {
  const t = useT()
  const shell = useShellT()
  const { user } = useSession()
  return (
    <section className={`wide ${classes.section}`} aria-labelledby="end">
      <div className={`row between ${classes.end}`}>
        <div>
          <h2 id="end">{t('end.title')}</h2>
          <p className="quiet" style={{ maxWidth: '36rem', marginTop: '0.35rem' }}>
            {t('end.text')}
          </p>
        </div>
        <div className="row">
          <Button component={Link} to={pageAt('product')} size="md">
            {shell('landing.browse')}
          </Button>
          {!user && (
            <Button component={Link} to={pageAt('createAccount')} size="md" variant="default">
              {t('end.account')}
            </Button>
          )}
        </div>
      </div>
    </section>
  )
}

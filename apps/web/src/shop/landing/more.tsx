import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { useSession } from '../../api/session.ts'
import { useT as useShellT } from '../../i18n/index.ts'
import { useT } from '../../i18n/landing.ts'
import classes from './more.module.css'
import { Places } from './places.tsx'
import { Questions } from './questions.tsx'
import { Steps } from './steps.tsx'
import { Uses } from './uses.tsx'

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
      <div className={classes.end}>
        <div>
          <h2 id="end">{t('end.title')}</h2>
          <p className={classes.endText}>{t('end.text')}</p>
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

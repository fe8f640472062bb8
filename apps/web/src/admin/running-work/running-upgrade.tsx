import { pageAt } from '@netlet/contract/pages'
import { Button } from '@mantine/core'
import { Link, useLocation } from 'react-router'
import { useMay } from '../../api/may.ts'
import { fleet } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import {
  countsOfUpgrade,
  isOpen,
  UpgradeButtons,
  UpgradeProgress,
  useNewestUpgrade
} from '../servers/upgrade/panel.tsx'
import classes from './running-work.module.css'

const PLACE = pageAt('servers')

/** The upgrade that runs or awaits a decision, on every screen except its own. */
export function RunningUpgrade() {
  return useMay().mayCall(fleet.upgrades) ? <Running /> : null
}

function Running() {
  const t = useT()
  const { pathname } = useLocation()
  const upgrade = useNewestUpgrade()
  if (!upgrade || !isOpen(upgrade) || pathname === PLACE) return null
  return (
    <section className={classes.work} aria-label={t('upgrade.label')}>
      <div className={classes.run}>
        <strong>{t('upgrade.to', { version: upgrade.version })}</strong>
        <span className="dim">{t(`upgrade.is.${upgrade.state}`)}</span>
        <span className="dim num" role="status">
          {countsOfUpgrade(t, upgrade)}
        </span>
        <span className="dim">{upgrade.username}</span>
        <UpgradeProgress upgrade={upgrade} className={classes.bar} />
        <span className={classes.buttons}>
          <Button size="compact-sm" variant="default" component={Link} to={PLACE}>
            {t('run.show')}
          </Button>
          <UpgradeButtons upgrade={upgrade} />
        </span>
      </div>
    </section>
  )
}

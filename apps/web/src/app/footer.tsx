import { IconAlertTriangle, IconBrandDiscord, IconBrandX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { read } from '../api/query.ts'
import { settings } from '../api/routes.ts'
import { useT } from '../i18n/index.ts'
import { webAddress } from '../kit/web-address.ts'
import classes from './footer.module.css'

type Props = {
  /** As wide as the dashboard, not as the shop's pages. */
  isConsole: boolean
  /** Only the warning, in a line: the room is the console's. Operators answer for what buyers were told. */
  brief: boolean
}

export function Footer({ isConsole, brief }: Props) {
  const t = useT()
  const { data: social } = useQuery({ ...read(settings.social), staleTime: Infinity })
  const discord = webAddress(social?.discord)
  const twitter = webAddress(social?.twitter)
  return (
    <footer className={classes.footer} data-brief={brief || undefined}>
      <div className={`wide ${classes.inside}`} data-console={isConsole || undefined}>
        <p className={classes.warning}>
          <IconAlertTriangle size={18} aria-hidden />
          <span>{t('footer.warning')}</span>
        </p>
        {!brief && (
          <div className={classes.ends}>
            <ul className={classes.links}>
              <li>
                <Link to="/policy?id=1">{t('policy.privacy')}</Link>
              </li>
              <li>
                <Link to="/policy?id=2">{t('policy.refund')}</Link>
              </li>
              <li>
                <Link to="/policy?id=3">{t('policy.terms')}</Link>
              </li>
              <li>
                <Link to="/rewards">{t('publicRewards.title')}</Link>
              </li>
              <li>
                <Link to="/support">{t('nav.support')}</Link>
              </li>
              <li>
                <Link to="/status">{t('nav.status')}</Link>
              </li>
            </ul>
            <ul className={classes.links}>
              {discord && (
                <li>
                  <a href={discord} target="_blank" rel="noopener noreferrer">
                    <IconBrandDiscord size={19} aria-hidden /> Discord
                  </a>
                </li>
              )}
              {twitter && (
                <li>
                  <a href={twitter} target="_blank" rel="noopener noreferrer">
                    <IconBrandX size={18} aria-hidden /> Twitter
                  </a>
                </li>
              )}
            </ul>
          </div>
        )}
      </div>
    </footer>
  )
}

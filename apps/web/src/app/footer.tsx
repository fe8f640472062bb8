import { pageAt } from '@netlet/contract/pages'
import { IconAlertTriangle, IconBrandDiscord, IconBrandX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { Link } from 'react-router'
import { read } from '../api/query.ts'
import { settings } from '../api/routes.ts'
import { useSession } from '../api/session.ts'
import { useT, type Key } from '../i18n/index.ts'
import { LANGUAGES, useLanguage, type Language } from '../i18n/language.ts'
import { BlockArt } from '../kit/block-art.tsx'
import { BrandName } from '../kit/brand.tsx'
import { webAddress } from '../kit/web-address.ts'
import { nextPaint } from '../kit/next-paint.ts'
import { chooseLanguage } from './header.tsx'
import classes from './footer.module.css'

type Props = {
  /** As wide as the dashboard, not as the shop's pages. */
  isConsole: boolean
  /** Only the warning, in one line, because the console needs the room. Operators answer for what buyers were told. */
  brief: boolean
}

const COLUMNS: [Key, [string, Key][]][] = [
  [
    'nav.product',
    [
      [pageAt('product'), 'landing.browse'],
      [pageAt('publicRewards'), 'publicRewards.title'],
      ['/dashboard', 'nav.dashboard']
    ]
  ],
  [
    'nav.support',
    [
      [`${pageAt('support')}#faq`, 'nav.faq'],
      [`${pageAt('support')}#contact`, 'nav.contact'],
      [pageAt('apiReference'), 'nav.api'],
      [pageAt('status'), 'nav.status']
    ]
  ],
  [
    'footer.legal',
    [
      [`${pageAt('policy')}?id=1`, 'policy.privacy'],
      [`${pageAt('policy')}?id=2`, 'policy.refund'],
      [`${pageAt('policy')}?id=3`, 'policy.terms']
    ]
  ]
]

export function Footer({ isConsole, brief }: Props) {
  const t = useT()
  return (
    <footer className={classes.footer} data-brief={brief || undefined}>
      <div className={`wide ${classes.inside}`} data-console={isConsole || undefined}>
        <p className={classes.warning}>
          <IconAlertTriangle size={18} aria-hidden />
          <span>{t('footer.warning')}</span>
        </p>
        {!brief && <Columns />}
      </div>
    </footer>
  )
}

function Columns() {
  const t = useT()
  return (
    <>
      <div className={classes.columns}>
        <div className={`stack start dim ${classes.about}`} style={{ gap: '0.75rem', maxWidth: '20rem' }}>
          <Link to={pageAt('home')} className="brand">
            <BrandName />
          </Link>
          <p>{t('footer.about')}</p>
          <BlockArt seed="Netlet" cols={22} rows={3} className={classes.art} />
        </div>
        {COLUMNS.map(([title, links]) => (
          <Column key={title} title={t(title)}>
            {links.map(([to, key]) => (
              <li key={to}>
                <Link to={to}>{t(key)}</Link>
              </li>
            ))}
          </Column>
        ))}
      </div>
      <div className={classes.end}>
        <Languages />
        <Social />
      </div>
    </>
  )
}

const Column = ({ title, children }: { title: string; children: ReactNode }) => (
  <div className={classes.column}>
    <h2>{title}</h2>
    <ul className={classes.links}>{children}</ul>
  </div>
)

function Languages() {
  const t = useT()
  const { user } = useSession()
  const language = useLanguage()
  // The words of the new language may take a while to load.
  const [wanted, setWanted] = useState<Language>()
  const choose = async (code: Language) => {
    setWanted(code)
    await nextPaint()
    // If they cannot be loaded, the page keeps its language.
    await chooseLanguage(code, Boolean(user)).catch(() => null)
    setWanted(undefined)
  }
  return (
    <ul className={classes.links} aria-label={t('nav.language')}>
      {(Object.keys(LANGUAGES) as Language[]).map(code => (
        <li key={code}>
          <button
            type="button"
            lang={code}
            aria-pressed={code === (wanted ?? language)}
            aria-busy={code === wanted}
            onClick={() => void choose(code)}
          >
            {LANGUAGES[code]}
          </button>
        </li>
      ))}
    </ul>
  )
}

/** Links to the shop's communities. The line keeps its place until they are known. */
function Social() {
  const { data: social } = useQuery({ ...read(settings.social), staleTime: Infinity })
  const discord = webAddress(social?.discord)
  const twitter = webAddress(social?.twitter)
  return (
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
  )
}

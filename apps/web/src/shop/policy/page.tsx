import { pageAt } from '@netlet/contract/pages'
import { use } from 'react'
import { Link, useSearchParams } from 'react-router'
import { useT } from '../../i18n/index.ts'
import { useLanguage, type Language } from '../../i18n/language.ts'
import { useTitle } from '../../kit/use-title.ts'
import type { Policies } from './policies.en.ts'
import classes from './policy.module.css'

const texts: Record<Language, () => Promise<{ policies: Policies }>> = {
  en: () => import('./policies.en.ts'),
  'zh-CN': () => import('./policies.zh-CN.ts')
}
const loading: Partial<Record<Language, Promise<{ policies: Policies }>>> = {}
const load = (language: Language) => (loading[language] ??= texts[language]())

const TITLES = { privacy: 'policy.privacy', refund: 'policy.refund', terms: 'policy.terms' } as const
const ADDRESSES = { privacy: 1, refund: 2, terms: 3 } as const
const kindOf = (id: string | null) => (id === '1' ? 'privacy' : id === '2' ? 'refund' : 'terms')

export default function PolicyPage() {
  const t = useT()
  const [query] = useSearchParams()
  const { policies } = use(load(useLanguage()))
  const kind = kindOf(query.get('id'))
  useTitle(t(TITLES[kind]))
  const { intro, sections } = policies[kind]
  return (
    <div className={`wide page ${classes.page}`}>
      <nav aria-label={t('policy.others')} className={classes.others}>
        {(['privacy', 'refund', 'terms'] as const).map(other => (
          <Link
            key={other}
            to={`${pageAt('policy')}?id=${ADDRESSES[other]}`}
            aria-current={other === kind ? 'page' : undefined}
          >
            {t(TITLES[other])}
          </Link>
        ))}
      </nav>
      <article className={`stack ${classes.text}`} style={{ gap: '1.75rem', maxWidth: '44rem' }}>
        <h1>{t(TITLES[kind])}</h1>
        <p className="dim">{intro}</p>
        {sections.map(({ title, paragraphs }, index) => (
          <section key={title}>
            <h2>
              {index + 1}. {title}
            </h2>
            {paragraphs.map(paragraph => (
              <p key={paragraph}>{paragraph}</p>
            ))}
          </section>
        ))}
      </article>
    </div>
  )
}

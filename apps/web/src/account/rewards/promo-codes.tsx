import { useT } from '../../i18n/account.ts'
import { CodeList } from './code-list.tsx'
import classes from './rewards.module.css'

export default function PromoCodesPage() {
  const t = useT()
  return (
    <section className="stack" aria-label={t('promo.title')}>
      <h2 className={classes.title}>{t('promo.title')}</h2>
      <CodeList />
    </section>
  )
}

import { useT } from '../../i18n/account.ts'
import { CodeList } from './code-list.tsx'

export default function PromoCodesPage() {
  const t = useT()
  return (
    <section className="stack" aria-label={t('promo.title')}>
      <h2 className="size-title">{t('promo.title')}</h2>
      <CodeList />
    </section>
  )
}

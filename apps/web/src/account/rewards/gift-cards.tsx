import { useT } from '../../i18n/account.ts'
import { CodeList } from './code-list.tsx'
import { ExchangeList } from './exchange-list.tsx'

export default function GiftCardsPage() {
  const t = useT()
  return (
    <div className="stack" style={{ gap: '1.75rem' }}>
      <section className="stack" aria-label={t('exchange.title')}>
        <h2 className="size-title">{t('exchange.title')}</h2>
        <ExchangeList />
      </section>
      <section className="stack" aria-label={t('gift.yours')}>
        <h2 className="size-title">{t('gift.yours')}</h2>
        <CodeList gifts />
      </section>
    </div>
  )
}

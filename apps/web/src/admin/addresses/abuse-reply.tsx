import type { ReplyOf } from '@netlet/contract'
import { Textarea } from '@mantine/core'
import type { inventory } from '@netlet/contract'
import { useT } from '../../i18n/admin.ts'
import { CopyButton } from '../../kit/copy-button.tsx'
import classes from './addresses.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

type Texts = ReplyOf<typeof inventory.addressHolders>['texts']

/** A reply to a complaint in each language, ready to copy. It names no customer. */
export function AbuseReply({ texts }: { texts: Texts }) {
  const t = useT()
  return (
    <section
      className={`card stack breaks ${classes.answer}`}
      style={{ gap: '0.7rem', padding: '0.9rem 1.1rem' }}
      aria-label={t('addresses.reply')}
    >
      <h2>{t('addresses.reply')}</h2>
      <p className="dim">{t('addresses.replyHint')}</p>
      <div style={gridStyle('22rem', '1rem', 'auto-fit')}>
        {(['en', 'zh-CN'] as const).map(language => {
          const name = t(language === 'en' ? 'addresses.english' : 'addresses.chinese')
          return (
            <div key={language} className={`stack start ${classes.text}`} style={{ gap: '0.5rem' }}>
              <Textarea label={name} lang={language} readOnly rows={11} value={texts[language]} />
              <CopyButton text={texts[language]} name={name} />
            </div>
          )
        })}
      </div>
    </section>
  )
}

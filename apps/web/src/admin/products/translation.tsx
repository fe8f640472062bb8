import { Textarea, TextInput } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { SecondLanguage } from '../kit/index.ts'
import type { TranslationDraft } from './draft.ts'
import classes from './products.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

const PATH = 'translations.zh-CN.'

type Props = {
  translation: TranslationDraft
  /** The words that identify the product's variants. */
  words: readonly string[]
  /** The form's errors by field path. */
  errors: Record<string, string>
  onChange: (translation: TranslationDraft) => void
}

export function Translation({ translation, words, errors, onChange }: Props) {
  const t = useT()
  const errorOf = (field: string) => errors[PATH + field]
  const setWord = (word: string, text: string) => {
    const { [word]: _former, ...others } = translation.words
    onChange({ ...translation, words: text === '' ? others : { ...others, [word]: text } })
  }
  return (
    <SecondLanguage
      filled={translation.name !== '' || translation.desc !== '' || Object.keys(translation.words).length > 0}
      wrong={Object.keys(errors).some(field => field.startsWith(PATH))}
    >
      <div className="start" style={gridStyle('26rem', '1rem 1.5rem', 'auto-fit')}>
        <TextInput
          label={t('form.inChinese', { field: t('products.product_name') })}
          autoComplete="off"
          value={translation.name}
          error={errorOf('name')}
          onChange={event => onChange({ ...translation, name: event.currentTarget.value })}
        />
        <Textarea
          label={t('form.inChinese', { field: t('products.product_desc') })}
          rows={4}
          value={translation.desc}
          error={errorOf('desc')}
          onChange={event => onChange({ ...translation, desc: event.currentTarget.value })}
        />
      </div>
      {words.length > 0 && (
        <fieldset>
          <legend className="strong size-body" style={{ marginBottom: '0.25rem' }}>
            {t('form.inChinese', { field: t('products.words') })}
          </legend>
          <p className="dim">{t('products.wordsHint')}</p>
          <div
            className={classes.words}
            style={gridStyle('11rem', '0.6rem 0.9rem')}
            tabIndex={0}
            role="group"
            aria-label={t('products.words')}
          >
            {words.map(word => (
              <TextInput
                key={word}
                size="sm"
                label={word}
                autoComplete="off"
                value={translation.words[word] ?? ''}
                error={errorOf(`words.${word}`)}
                onChange={event => setWord(word, event.currentTarget.value)}
              />
            ))}
          </div>
        </fieldset>
      )}
    </SecondLanguage>
  )
}

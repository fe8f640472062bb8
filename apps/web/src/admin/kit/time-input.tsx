import { TextInput, type TextInputProps } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { zoneText } from '../../kit/time.tsx'

type Props = Omit<TextInputProps, 'type' | 'value'> & { value: string; precision: 'minute' | 'second' }

/** An instant in the user's time zone. The zone is shown with its offset at that instant, because of summer time. */
export function TimeInput({ precision, description, value, ...props }: Props) {
  const t = useT()
  const language = useLanguage()
  const entered = new Date(value)
  const at = Number.isNaN(entered.getTime()) ? new Date() : entered
  const zone = t('form.zone', { zone: zoneText(at, language) })
  return (
    <TextInput
      autoComplete="off"
      {...props}
      type="datetime-local"
      {...(precision === 'second' ? { step: 1 } : {})}
      value={value}
      description={
        description ? (
          <>
            {description} {zone}
          </>
        ) : (
          zone
        )
      }
    />
  )
}

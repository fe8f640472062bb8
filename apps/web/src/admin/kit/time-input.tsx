import { TextInput, type TextInputProps } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { useLanguage } from '../../i18n/language.ts'
import { zoneText } from '../../kit/time.tsx'

const two = (value: number) => String(value).padStart(2, '0')

/** An instant as the value of a datetime-local input, to the minute or second; '' for none. */
export function localTime(instant: unknown, precision: 'minute' | 'second'): string {
  const at = new Date(typeof instant === 'string' ? instant : '')
  if (Number.isNaN(at.getTime())) return ''
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
  const minute = `${day}T${two(at.getHours())}:${two(at.getMinutes())}`
  return precision === 'minute' ? minute : `${minute}:${two(at.getSeconds())}`
}

/** The input's value as ISO 8601; null if it has none. */
export function instantOf(local: string): string | null {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

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

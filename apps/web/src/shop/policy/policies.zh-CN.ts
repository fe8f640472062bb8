import type { Policies, Section } from './policies.ts'

const section = (title: string, ...paragraphs: string[]): Section => ({ title, paragraphs })

export const policies: Policies = {
  privacy: {
    intro: 'What we keep about you, why we keep it, and for how long. We keep as little as running this shop allows.',
    sections: [
      section(
        'What we collect',
        'When you sign up: your username, your email address, a protected form of your password and, where you came by an invitation, who invited you. If you connect a chat-platform account, its id and its name.',
        'When you order: the plan, its quantity and its access rules, the amounts, and the references of the payment. Card and bank details are entered at the payment provider; we never see them.',
        'When you log in: the time, the IP address and the country it belongs to, so that you and we can notice a login that was not yours.'
      ),
      section(
        'What we collect about proxy traffic',
        'To run the service and to bill it fairly, our servers count requests and bytes for each proxy, and keep short connection logs with the time, the proxy, and the host that was asked for. The content of your traffic is neither read nor stored.',
        'We keep the record of which address was leased to which order and when. The law may oblige us to answer who held an address at a given time.'
      ),
      section(
        'Why we may do so',
        'We need these data to fulfil our contract with you, to protect the service and others from abuse, and to meet our duties under tax and telecommunications law.'
      ),
      section(
        'Who else receives them',
        'The e-commerce platform that takes your payment, the mail service that delivers our messages, and, if you connect it, the chat platform. Each receives what its task needs and nothing more. We do not sell data, and we show no advertising.'
      ),
      section(
        'Cookies and storage',
        'One cookie keeps you logged in. Your browser also remembers your colour scheme, your language and a payment that is under way. There are no analytics or advertising cookies.'
      ),
      section(
        'How long we keep them',
        'Account data are kept while your account exists. Invoices and the lease history are kept for as long as the law demands. Connection logs are deleted as soon as they are no longer needed for operation and the handling of abuse.'
      ),
      section(
        'How we protect them',
        'Passwords are stored as one-way hashes, secrets are encrypted at rest, access is limited to those who need it, and every change that an administrator makes is written to an audit log.'
      ),
      section(
        'Your rights',
        'You may ask what we hold about you, have it corrected, receive a copy, or have your account deleted, as far as no legal duty stands against it. Write to us through the ticket form on the Support page.'
      ),
      section(
        'Changes',
        'If this policy changes in a way that matters to you, we tell you by email before the change takes effect.'
      )
    ]
  },
  refund: {
    intro: 'Everything we sell is a digital good that is delivered at once. Please read this before you pay.',
    sections: [
      section(
        'All sales are final',
        'Our plans are digital goods: the addresses are reserved for you and taken from stock the moment you order. Once an order has been paid there is no refund, no replacement and no exchange, whether or not the proxies have been used.'
      ),
      section(
        'No changes after payment',
        'The plan, the location, the quantity and the access rules of an order cannot be changed after it has been paid. Please check them in the order summary before you go to the checkout.'
      ),
      section(
        'What is guaranteed',
        'We guarantee the general connectivity of the IP addresses: that you can connect to them and that traffic leaves from them. We do not guarantee that a particular website accepts an address, nor a particular speed, since both are in the hands of others.'
      ),
      section(
        'If something does not work',
        'If an address cannot be reached, send us a ticket with the order number. We repair what is ours to repair. An order that was paid and could not be delivered is delivered as soon as stock allows, or settled by our support.'
      ),
      section(
        'Unpaid orders',
        'An order that is not paid within 30 minutes is released, and you owe nothing. If your payment arrives later, we deliver the order if the addresses are still to be had.'
      ),
      section(
        'Your legal rights',
        'By paying you ask for immediate delivery and accept that a right of withdrawal for digital goods ends with it. Rights that the law of your country does not allow to be waived remain untouched.'
      )
    ]
  },
  terms: {
    intro: 'These terms apply to everyone who visits this shop, holds an account, or uses a proxy leased here.',
    sections: [
      section(
        'Acceptance',
        'By creating an account, placing an order or using a proxy you accept these terms, the Privacy Policy and the Refund Policy. If you do not agree with them, please do not use the service.'
      ),
      section(
        'The service',
        'We lease IP addresses as forward proxies for a fixed term. A leased proxy consists of an address, a port, a username and a password. Traffic that you send to it leaves from the same address.'
      ),
      section(
        'Who may use it',
        'You must be of legal age and able to enter into a contract. If you act for a company, you confirm that you may bind it. Whoever is subject to sanctions may not use the service.'
      ),
      section(
        'Your account',
        'Give correct details, keep your password to yourself, and tell us at once if somebody else uses your account. You are responsible for what is done through it.'
      ),
      section(
        'Orders and payment',
        'An order is an offer to buy. It reserves the addresses for 30 minutes and becomes binding with the payment, which is made at an external checkout. Prices are shown before you pay; taxes and fees of your bank may be added.'
      ),
      section(
        'Delivery',
        'After the payment the proxies are set up automatically, usually within a minute. You find them in your dashboard. If a part of an order is late, the rest is delivered meanwhile and the remainder follows by itself.'
      ),
      section(
        'Term and renewal',
        'A lease runs for the number of days shown with the plan and ends by itself. You may renew it before it ends; the new term follows the current one. An expired order cannot be renewed, and its addresses may be leased to somebody else.'
      ),
      section(
        'No refunds',
        'All sales are final. There are no refunds, no replacements and no changes to an order after its payment. The Refund Policy gives the details.'
      ),
      section(
        'Access rules',
        'Some sites can be reached only if their access rule was bought with the order. An address may be leased to several customers at the same time as long as their access rules do not overlap.'
      ),
      section(
        'Acceptable use',
        'Use the proxies only for what the law and the rules of the sites that you visit allow. You decide what you do with them, and you answer for it.'
      ),
      section(
        'Prohibited use',
        'It is forbidden to send spam, to attack or overload systems, to scan them without permission, to break into accounts, to commit fraud, to distribute malware or unlawful content, to infringe the rights of others, or to resell the proxies without our written consent.'
      ),
      section(
        'Monitoring and abuse',
        'We do not read the content of your traffic. We count requests and bytes, keep short connection logs and look into complaints. If a complaint is founded we may block destinations, suspend proxies, or close the account.'
      ),
      section(
        'Availability',
        'We guarantee the general connectivity of the addresses. Maintenance, faults of networks and decisions of third parties can interrupt the service. We announce planned work where we can.'
      ),
      section(
        'Third parties',
        'Payment, mail and community chat are provided by others under their own terms. Websites may refuse proxies at their discretion; that is no defect of the service.'
      ),
      section(
        'Points, coins and codes',
        'Level points, coins, promo codes and gift cards are a voluntary benefit. They have no cash value, cannot be transferred, may expire or decay as shown in your dashboard, and are lost if they were obtained by abuse.'
      ),
      section(
        'Intellectual property',
        'The shop, its software, its texts and its marks belong to us or to our licensors. With a lease you acquire the right to use the addresses for its term, and no property in them.'
      ),
      section(
        'Liability',
        'We are liable without limit for intent, gross negligence and injury to life or health. Otherwise our liability is limited to the amount that you paid for the order concerned, as far as the law allows. We are not liable for lost profit or lost data.'
      ),
      section(
        'Indemnity',
        'If others make claims against us because of your use of the proxies in breach of these terms, you hold us harmless and bear the reasonable costs of our defence.'
      ),
      section(
        'Suspension and termination',
        'You may close your account at any time; leases that were paid run until they end. We may suspend or close an account that breaches these terms. No refund is due in that case.'
      ),
      section(
        'Changes, law and contact',
        'We may change these terms with notice of at least 14 days; an order is governed by the terms at the time it was placed. The law of the place of business of the shop’s operator applies, without taking away the protection of the law of the country in which you live. You reach us through the ticket form on the Support page. If a clause is void, the others remain in force.'
      )
    ]
  }
}
